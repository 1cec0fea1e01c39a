"""Before the start: does this Spark have room for the plan?

A stage that needs more slots than there are waits for minutes and then fails with a message about
something else. The preflight says it in seconds, with the numbers and the settings to change. It refuses
only what can never fit: where Spark will get more executors, the run goes on and waits for its nodes.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hopyard.cluster.capacity import Executors, arrived, running_tasks, settings_of, slots
from hopyard.cluster.demand import Demand, Needs, Shortage
from hopyard.cluster.forecast import Forecast, forecast
from hopyard.cluster.refusal import listed, too_few_allowed, too_few_came

if TYPE_CHECKING:
    from pyspark import SparkContext

__all__ = ["Demand", "await_room", "preflight", "uses_barrier"]

LOG = logging.getLogger(__name__)
LOOK_AGAIN_SECONDS = 0.2


def preflight(
    context: SparkContext,
    demands: Sequence[Demand],
    *,
    settle_seconds: float = 8.0,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Returns if a Spark application has room for the nodes of a plan, or will have.

    Args:
        context: The application.
        demands: The nodes, by kind; all of them run at the same time.
        settle_seconds: How long to wait for executors where the settings do not tell how many will come.
        clock: Tells the time in seconds.

    Raises:
        NotEnoughSlots: The plan can never run there.
    """
    needs = Needs.of(settings_of(context), demands)
    executors = await_room(
        needs, lambda: arrived(context), settle_seconds=settle_seconds, clock=clock, pause=time.sleep
    )
    _tell_who_must_wait(needs, executors, running_tasks(context))


def await_room(
    needs: Needs,
    look: Callable[[], tuple[Executors, ...]],
    *,
    settle_seconds: float,
    clock: Callable[[], float],
    pause: Callable[[float], None],
) -> tuple[Executors, ...]:
    """Returns the executors that are there once they have room, or at once if enough are certain to come.

    Args:
        needs: What there must be room for.
        look: Tells which executors have arrived.
        settle_seconds: How long to wait for executors that may come or not.
        clock: Tells the time in seconds.
        pause: Lets some seconds pass.

    Raises:
        NotEnoughSlots: There is too little room, and more will not come or did not come in time.
    """
    coming = forecast(needs.settings)
    deadline = clock() + settle_seconds
    while (lacking := needs.shortage(executors := look())) is not None:
        if (never := _at_best(needs, coming)) is not None:
            raise too_few_allowed(needs, never, coming)
        if coming.promised:
            break
        if clock() >= deadline:
            raise too_few_came(needs, lacking, executors, settle_seconds)
        pause(LOOK_AGAIN_SECONDS)
    return executors


def uses_barrier(context: SparkContext) -> bool:
    """Returns whether Spark accepts barrier stages, whose tasks start together or not at all."""
    settings = settings_of(context)
    if not settings.dynamic:
        return True
    LOG.info("no barrier stage: Spark refuses them with spark.dynamicAllocation.enabled=true")
    if settings.speculation:
        LOG.warning("spark.speculation=true lets Spark start a node a second time; set it to false")
    return False


def _at_best(needs: Needs, coming: Forecast) -> Shortage | None:
    """Returns what will be lacking even when all executors are there that the settings allow."""
    return None if coming.most is None else needs.shortage(coming.most, shared=coming.shared)


def _tell_who_must_wait(needs: Needs, executors: Sequence[Executors], running: int) -> None:
    there = slots(executors, needs.settings.task_cpus, 0)
    if needs.shortage(executors) is not None:
        LOG.info(
            "the plan needs %d slots; so far there are %s, more will come", needs.slots, listed(executors)
        )
    elif there - running < needs.slots:
        LOG.warning(
            "the plan needs %d slots, and other tasks of this application hold %d of %d: nodes start when "
            "those tasks are done",
            needs.slots,
            running,
            there,
        )
