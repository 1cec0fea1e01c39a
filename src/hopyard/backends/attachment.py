"""Whether nodes that are to leave their Spark tasks had better stay in them.

A node that has left its task holds nothing of Spark any more. That is the point of it, and has two drawbacks: dynamic
allocation ends executors without tasks, with all that runs in their containers, and Spark gives GPUs to the
next task that asks for them. Where other tasks find room all the same, nodes stay.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hopyard.spark.preflight.capacity import Executors, arrived, settings_of
from hopyard.spark.preflight.demand import Demand, Needs
from hopyard.spark.preflight.forecast import Forecast, forecast

if TYPE_CHECKING:
    from pyspark import SparkContext

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """What was decided.

    Attributes:
        detach: Whether nodes leave their tasks.
        reason: Why.
        risks: What may happen to nodes that leave, and which settings keep it from happening.
    """

    detach: bool
    reason: str
    risks: tuple[str, ...] = ()


def attachment(needs: Needs, coming: Forecast, executors: Sequence[Executors]) -> Attachment:
    """Returns whether nodes leave their tasks so that others can have the slots.

    Args:
        needs: The nodes.
        coming: The executors that there will be.
        executors: Those that there are, which count where nobody knows what will come.
    """
    risks = _risks(needs)
    if not risks:
        return Attachment(detach=True, reason="other tasks can have the slots")
    if _is_room_for_another(needs, coming, executors):
        return Attachment(detach=False, reason=f"there are more slots than nodes, and {risks[0][0]}")
    told = tuple(f"{danger}; {remedy}" for danger, remedy in risks)
    return Attachment(detach=True, reason="no slot is left over for other tasks otherwise", risks=told)


def detaches(context: SparkContext, demands: Sequence[Demand]) -> bool:
    """Returns whether nodes leave their tasks in this application, and tells in the log why."""
    needs = Needs.of(settings_of(context), demands)
    choice = attachment(needs, forecast(needs.settings), arrived(context))
    LOG.info("the nodes %s their Spark tasks: %s", "leave" if choice.detach else "stay in", choice.reason)
    for risk in choice.risks:
        LOG.warning("the nodes leave their Spark tasks although %s", risk)
    return choice.detach


def _risks(needs: Needs) -> list[tuple[str, str]]:
    """Returns what may happen to nodes without tasks, each with what to do about it."""
    risks = []
    if needs.settings.may_shrink:
        danger = "dynamic allocation may end executors that have no tasks, and the nodes with them"
        remedy = (
            "set spark.dynamicAllocation.minExecutors to the value of spark.dynamicAllocation.maxExecutors, or "
            "allow more executors"
        )
        risks.append((danger, remedy))
    if any(gpus for gpus, _ in needs.nodes):
        danger = "Spark may give the GPUs of the nodes to other tasks as well"
        remedy = "give the application more slots than nodes, with GPUs if each task takes some"
        risks.append((danger, remedy))
    return risks


def _is_room_for_another(needs: Needs, coming: Forecast, executors: Sequence[Executors]) -> bool:
    """Tells whether a task of the session's own kind fits in beside the nodes."""
    room = coming.most if coming.promised else tuple(executors)
    if room is None:  # dynamic allocation without a limit
        return True
    kinds = Counter(dict(needs.nodes))
    kinds[needs.settings.task_gpus] += 1
    more = replace(needs, nodes=tuple(sorted(kinds.items(), reverse=True)))
    if more.shortage(room, shared=coming.shared) is not None:
        return False
    # different shares of GPUs may be found to fit where they do not, so at least their sum has to
    taken = sum(gpus * count for gpus, count in more.nodes)
    return not coming.shared or taken <= sum(each.count * each.gpus for each in room)
