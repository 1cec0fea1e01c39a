"""Before the start: does this Spark have room for the plan?

A stage that needs more slots than there are waits for minutes and then fails with a message about
something else. The preflight refuses at once what can never fit, with the numbers and the settings to change. Where
executors may still come, it waits for them as long as the caller allows, and tells in the log what is lacking.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Self

from hopyard.spark.preflight.capacity import Executors, arrived, settings_of, slots, tasks_of_others
from hopyard.spark.preflight.demand import Demand, Needs
from hopyard.spark.preflight.forecast import forecast
from hopyard.spark.preflight.refusal import listed, too_few_allowed, too_few_came

if TYPE_CHECKING:
    from pyspark import SparkContext

    from hopyard.errors import NotEnoughSlots

__all__ = ["Demand", "Room", "settled", "slots_at_once", "uses_barrier"]

LOG = logging.getLogger(__name__)
LOOK_AGAIN_SECONDS = 0.2
TELL_SECONDS = 5.0  # a wait that is shorter is no news
START_SECONDS = 600.0
SETTLE_SECONDS = 3.0  # executors that are started together arrive within such a time of each other


class Room:
    """Room for all nodes of a plan on the executors of an application: it is there, or may still come.

    Args:
        needs: What there must be room for.
        look: Returns the executors that have arrived.
        others: Returns how many tasks they run that are not the plan's.
        seconds: How long the caller allows to wait.
        setting: The caller's name for that; empty if it cannot be changed.
        clock: Tells the time in seconds.

    Raises:
        NotEnoughSlots: There is too little room, and there never will be enough.
    """

    def __init__(
        self,
        needs: Needs,
        look: Callable[[], tuple[Executors, ...]],
        others: Callable[[], int],
        *,
        seconds: float,
        setting: str = "start_timeout",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._needs = needs
        self._look = look
        self._others = others
        self._seconds = seconds
        self._setting = setting
        self._clock = clock
        self._began = clock()
        self._tell_after = TELL_SECONDS
        coming = forecast(needs.settings)
        never = None if coming.most is None else needs.shortage(coming.most, shared=coming.shared)
        if never is not None and needs.shortage(look()) is not None:
            raise too_few_allowed(needs, never, coming)

    @classmethod
    def of(
        cls,
        context: SparkContext,
        demands: Sequence[Demand],
        *,
        seconds: float,
        setting: str = "start_timeout",
        group: str = "",
    ) -> Self:
        """Returns the room for nodes in a Spark application.

        Args:
            context: The application.
            demands: The nodes, by kind; all of them run at the same time.
            seconds: How long the caller allows to wait.
            setting: The caller's name for that.
            group: The job group of the plan's own tasks.
        """
        needs = Needs.of(settings_of(context), demands)
        return cls(
            needs,
            lambda: arrived(context),
            lambda: tasks_of_others(context, group),
            seconds=seconds,
            setting=setting,
        )

    def is_there(self) -> bool:
        """Tells whether the tasks of the plan can be handed to Spark."""
        # With dynamic allocation executors come only when tasks wait for them.
        return self._needs.settings.dynamic or self._needs.shortage(self._look()) is None

    def wait(self, pause: Callable[[float], None] = time.sleep) -> None:
        """Returns when it is there.

        Raises:
            NotEnoughSlots: Too few executors came in time.
        """
        while not self.is_there():
            if self._waited >= self._seconds and (refusal := self.refusal()) is not None:
                raise refusal
            self.tell()
            pause(LOOK_AGAIN_SECONDS)

    def tell(self) -> None:
        """Says in the log what keeps the plan from starting; call it often, it speaks now and then."""
        waited = self._waited
        if waited < self._tell_after:
            return
        self._tell_after = 2 * waited
        executors = self._look()
        so_far = f"{waited:.0f} s" + (f" of {self._seconds:g} s" if self._seconds < math.inf else "")
        lacking = self._needs.shortage(executors)
        if lacking is not None:
            LOG.warning(
                "waiting for executors: %d of %d slots are there (%s), %s",
                lacking.found,
                lacking.needed,
                listed(executors),
                so_far,
            )
            return
        there, others = slots(executors, self._needs.settings.task_cpus, 0), self._others()
        if there - others < self._needs.slots:
            LOG.warning(
                "waiting for slots: the plan needs %d, and other tasks of this application hold %d of %d, %s",
                self._needs.slots,
                others,
                there,
                so_far,
            )

    def refusal(self) -> NotEnoughSlots | None:
        """Returns the error for a plan whose executors have not come in time; None if they are there."""
        executors = self._look()
        lacking = self._needs.shortage(executors)
        if lacking is None:
            return None
        return too_few_came(self._needs, lacking, executors, self._seconds, self._setting)

    @property
    def _waited(self) -> float:
        return self._clock() - self._began


def slots_at_once(context: SparkContext, gpus: float | None = None, *, wanted: int | None = None) -> int:
    """Returns how many tasks an application runs at once, on executors that are there or sure to come.

    Args:
        context: The application.
        gpus: What each task needs, as in `Demand`.
        wanted: How many are enough; None for as many as there are.

    Raises:
        NotEnoughSlots: There is no room for a single one.
    """
    settings = settings_of(context)
    coming = forecast(settings)
    room = Room.of(context, [Demand(nodes=1, gpus=gpus)], seconds=START_SECONDS, setting="")

    def count(executors: tuple[Executors, ...]) -> int:
        return slots(executors, settings.task_cpus, settings.gpus_of_task(gpus))

    if coming.promised:
        sure = wanted or 1 if coming.most is None else count(coming.most)
        return max(sure, count(arrived(context)))
    is_late = not room.is_there()
    room.wait()
    if is_late or wanted is not None:
        return settled(lambda: count(arrived(context)), wanted=wanted)
    return count(arrived(context))


def settled(
    count: Callable[[], int],
    *,
    wanted: int | None = None,
    clock: Callable[[], float] = time.monotonic,
    pause: Callable[[float], None] = time.sleep,
) -> int:
    """Returns a number of slots once it grows no more, or is as large as wanted."""
    most, since = count(), clock()
    while (wanted is None or most < wanted) and clock() - since < SETTLE_SECONDS:
        pause(LOOK_AGAIN_SECONDS)
        if (now := count()) > most:
            most, since = now, clock()
    return most


def uses_barrier(context: SparkContext) -> bool:
    """Returns whether Spark accepts barrier stages, whose tasks start together or not at all."""
    settings = settings_of(context)
    if not settings.dynamic:
        return True
    LOG.info("no barrier stage: Spark refuses them with spark.dynamicAllocation.enabled=true")
    if settings.speculation:
        LOG.warning("spark.speculation=true lets Spark start a node a second time; set it to false")
    return False
