"""The states that runs, nodes and trials can be in, and the direction of a search."""

from __future__ import annotations

from enum import Enum


class RunState(Enum):
    """How a run stands.

    `LOST` is never stored. It is what a reader says of a run whose record claims RUNNING while its
    heartbeat has stopped: the driver died without a word.
    """

    RUNNING = "RUNNING"
    FINISHED = "FINISHED"
    FAILED = "FAILED"
    KILLED = "KILLED"
    LOST = "LOST"


class NodeState(Enum):
    """How a node ended: its function returned, it failed by itself, or it was told to stop."""

    FINISHED = "FINISHED"
    FAILED = "FAILED"
    KILLED = "KILLED"


class TrialState(Enum):
    """How a trial of a study stands; `PRUNED` was stopped early because others did better."""

    WAITING = "WAITING"
    RUNNING = "RUNNING"
    FINISHED = "FINISHED"
    PRUNED = "PRUNED"
    FAILED = "FAILED"


class Direction(Enum):
    """Which values of its objective a study prefers."""

    MIN = "min"
    MAX = "max"
