"""How a node is doing: what it tells with each heartbeat, and what the driver makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from hopyard.tracking import NodeState


class Phase(Enum):
    """Where a node is in its life, as the driver knows it."""

    AWAITED = "awaited"  # nothing was heard of it yet
    ARRIVED = "arrived"  # it waits for the others
    STARTING = "starting"  # it runs, and its function has taken no row of its feed yet: only the view tells these apart
    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"
    KILLED = "killed"
    LOST = "lost"

    @classmethod
    def of(cls, state: NodeState) -> Phase:
        """Returns the phase of a node that has ended."""
        return cls[state.name]


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat:
    """What a node's supervisor tells of it.

    Attributes:
        step: The last step that it reported.
        metrics: The last value of each metric.
        idle_seconds: Time since it last printed or reported anything.
        lines: What it printed since the last sign, where the driver wants to see it.
        notes: Addresses of servers beside the node, such as its TensorBoard.
    """

    step: int | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)
    idle_seconds: float = 0.0
    lines: tuple[str, ...] = ()
    notes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeStatus:
    """A node as the driver knows it at one moment.

    Attributes:
        rank: Its number among all.
        role: ``chief``, ``worker``, ``ps`` or ``evaluator``.
        phase: Where it is in its life.
        host: Name of the machine that it runs on.
        address: Where the other nodes reach it, as ``host:port``; empty before it has arrived.
        step: The last step that it reported.
        metrics: The last value of each metric.
        silent_seconds: Time since its last heartbeat.
        idle_seconds: Time since it last printed or reported anything.
        notes: Addresses of servers beside it, such as its TensorBoard.
    """

    rank: int
    role: str
    phase: Phase
    host: str = ""
    address: str = ""
    step: int | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)
    silent_seconds: float = 0.0
    idle_seconds: float = 0.0
    notes: Mapping[str, str] = field(default_factory=dict)
