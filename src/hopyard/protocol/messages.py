"""What workers say to their driver, and what it answers: one dataclass for each, and the name by which it travels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Any, Final, Generic, TypeAlias, TypeVar

from hopyard.protocol.assignment import Assignment
from hopyard.protocol.cluster_map import ClusterMap
from hopyard.protocol.node_status import Heartbeat
from hopyard.tracking import NodeOutcome, TrialRecord

Point: TypeAlias = tuple[int, Mapping[str, float]]
A = TypeVar("A")


class Verdict(Enum):
    """What is to become of a trial after what it has reported."""

    GO_ON = "go on"
    PRUNE = "prune"  # the pruner says that it will not be among the best
    DROP = "drop"  # nobody waits for it here: it is no longer this slot's, or there is no driver


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the driver tells a worker that is there.

    Attributes:
        again: When to call next, in seconds.
        members: The cluster map, once all nodes have arrived.
        stop: Why to stop at once; None to go on.
        release: The run is done: seconds in which the node may end by itself before it is ended; None to go on.
    """

    again: float
    members: ClusterMap | None = None
    stop: str | None = None
    release: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NextTrial:
    """What a slot is to do next: run a trial, or ask again after some seconds, or leave.

    Attributes:
        trial: The trial to run.
        again: When to ask again, in seconds; counts if there is no trial.
        leave: Why to leave; None to stay.
    """

    trial: Assignment | None = None
    again: float = 0.0
    leave: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What is to become of a trial."""

    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """The driver has heard it."""


Answer: TypeAlias = Reply | NextTrial | Judgement | Noted


@dataclass(frozen=True, slots=True, kw_only=True)
class Message(Generic[A]):
    """What all messages tell; `A` is what answers them.

    Attributes:
        number: Which worker of its pool it is: the rank of a node, the number of a slot.
        incarnation: What tells this process from another one that was started as the same worker.
    """

    number: int
    incarnation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrive(Message[Reply]):
    """A node is there, and waits for the others.

    Attributes:
        address: Where the other nodes reach it, as ``host:port``.
        host: Name of its machine.
    """

    address: str
    host: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat(Message[Reply]):
    """A worker is alive."""

    heartbeat: Heartbeat


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended(Message[Noted]):
    """A node has ended, and stores what it leaves.

    Attributes:
        record: How it ended.
        heartbeat: Its last one.
    """

    record: NodeOutcome
    heartbeat: Heartbeat


@dataclass(frozen=True, slots=True, kw_only=True)
class Left(Message[Noted]):
    """A worker goes; what it leaves is stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskTrial(Message[NextTrial]):
    """A slot wants its next trial.

    Attributes:
        host: Name of its machine.
        ended: What came of the trial before; None if there is nothing to tell.
    """

    host: str
    ended: TrialRecord | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportTrial(Message[Judgement]):
    """A trial has reported values.

    Attributes:
        trial: Which one.
        points: The values, by step.
    """

    trial: int
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """How a message travels: under which name, and what answers it."""

    name: str
    message: type[Message[Any]]
    answer: type[Answer]


METHODS: Final = (
    Method(name="arrive", message=Arrive, answer=Reply),
    Method(name="beat", message=Beat, answer=Reply),
    Method(name="ended", message=Ended, answer=Noted),
    Method(name="left", message=Left, answer=Noted),
    Method(name="ask", message=AskTrial, answer=NextTrial),
    Method(name="report", message=ReportTrial, answer=Judgement),
)
METHOD_OF: Final = MappingProxyType({method.message: method for method in METHODS})
METHOD_NAMED: Final = MappingProxyType({method.name: method for method in METHODS})
