"""What is remembered of runs: their records, the writers that keep them and the readers that show them."""

from hopyard.tracking.records import MetricPoint, NodeOutcome, RunRecord, StudyRecord, TrialRecord
from hopyard.tracking.runid import RunId
from hopyard.tracking.states import Direction, NodeState, RunState, TrialState

__all__ = [
    "Direction",
    "MetricPoint",
    "NodeOutcome",
    "NodeState",
    "RunId",
    "RunRecord",
    "RunState",
    "StudyRecord",
    "TrialRecord",
    "TrialState",
]
