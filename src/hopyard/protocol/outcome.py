"""What came of a node: the record that is kept, and the value that its function returned."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any

from hopyard.errors import NodeFailed
from hopyard.tracking import NodeOutcome, NodeState


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a node ended, as it travels from the executor to the driver."""

    record: NodeOutcome
    value: bytes | None = None  # pickled, so that the way through Spark needs none of the user's classes

    @property
    def ok(self) -> bool:
        """Whether the function returned."""
        return self.record.state is NodeState.FINISHED

    def result(self) -> Any:
        """Returns the function's value, or raises what kept it from returning one.

        Raises:
            NodeFailed: The node failed or was stopped.
        """
        if not self.ok or self.value is None:
            raise failure(self.record)
        return pickle.loads(self.value)  # noqa: S301  written by a node of ours: on the wire, its supervisor marks it (protocol.outcome_stream)


def failure(record: NodeOutcome) -> NodeFailed:
    """Returns the error that tells of a failed node: where, why, and its last words."""
    return NodeFailed(
        record.rank,
        record.role,
        record.host,
        record.message or "",
        record.traceback or "",
        tuple(record.tail),
    )
