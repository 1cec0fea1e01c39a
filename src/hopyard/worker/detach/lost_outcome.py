"""The outcome of a node that cannot tell it: its executor is gone, or nobody has heard of it for too long."""

from __future__ import annotations

import logging
import time
from dataclasses import replace

from hopyard.errors import HopyardError
from hopyard.protocol.outcome import Outcome
from hopyard.tracking import NodeOutcome, NodeState, NodeWriter, RunReader
from hopyard.worker.tail import SEARCHED_LINES, last_lines
from hopyard.worker.task import NodeTask

LOG = logging.getLogger(__name__)


def lost_outcome(task: NodeTask, host: str, reason: str, instead: tuple[str, ...] = ()) -> Outcome:
    """Returns, and stores in the node's stead, the outcome of a node that vanished, with its last lines.

    Args:
        task: The node.
        host: Where it was.
        reason: What is known of its end.
        instead: What to show if it has printed nothing.
    """
    now = time.time()
    record = replace(
        task.finished(now), host=host, state=NodeState.FAILED, exit_code=None, message=reason, ended=now
    )
    try:
        lines = RunReader(task.project, task.run_id).log(
            task.node.rank, attempt=task.attempt, tail=SEARCHED_LINES
        )
        record = replace(record, tail=last_lines(lines) or instead)
    except (OSError, HopyardError) as error:
        # that the node is lost is what the user has to know, with or without its output
        LOG.warning("the output of %s could not be read: %s", task.node, error)
    return _stored(task, record)


def undelivered_outcome(task: NodeTask, record: NodeOutcome, cause: str) -> Outcome:
    """Returns, and stores instead of its own, the outcome of a node whose value got lost on its way to the driver."""
    problem = f"its value did not reach the driver ({cause})"
    message = problem if record.message is None else f"{record.message}; also, {problem}"
    return _stored(task, replace(record, state=NodeState.FAILED, message=message))


def absent_outcome(task: NodeTask) -> Outcome:
    """Returns the outcome of a node that had not arrived when its run ended."""
    message = "it had not arrived when the run ended"
    record = replace(task.finished(time.time()), state=NodeState.KILLED, exit_code=None, message=message)
    return Outcome(record=record)


def _stored(task: NodeTask, record: NodeOutcome) -> Outcome:
    try:
        NodeWriter(task.project, task.run_id, task.node.rank, task.attempt).outcome(record)
    except (OSError, HopyardError) as error:
        # whoever waits for the run is told of the node's end; that matters more than the file
        LOG.warning("the end of %s could not be stored: %s", task.node, error)
    return Outcome(record=record)
