"""Where the nodes of a run are run: the seam between a plan and the processes that carry it out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from hopyard.control.gang import Timeouts
from hopyard.protocol.node_status import NodeStatus
from hopyard.protocol.outcome import Outcome
from hopyard.worker.ports import ANY_PORT
from hopyard.worker.task import NodeTask


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupOptions:
    """How a group is watched over.

    Attributes:
        timeouts: How long to wait for what.
        on_lines: Receives the rank and the output of nodes that stream it.
        on_driver: Whether parameter servers and evaluator run beside the driver.
        detach: Whether nodes leave their Spark tasks, so that others can have the slots.
        address: Where nodes on other machines find the driver; None to find out.
        ports: The ports that the driver may listen on for them.
        tls: Whether they call it over TLS.
    """

    timeouts: Timeouts = field(default_factory=Timeouts)
    on_lines: Callable[[int, tuple[str, ...]], None] | None = None
    on_driver: bool = False
    detach: bool = False
    address: str | None = None
    ports: tuple[int, ...] = ANY_PORT
    tls: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupEnd:
    """How a group ended.

    Attributes:
        outcomes: What came of the nodes, in rank order.
        culprit: The rank of the node that failed first, whose failure made the others end; None if none did.
    """

    outcomes: tuple[Outcome, ...]
    culprit: int | None = None


class Group(Protocol):
    """The nodes of one run, under way."""

    def wait(self, timeout: float | None = None) -> GroupEnd | None:
        """Returns how the group ended, or None if some nodes still run after ``timeout`` seconds.

        Raises:
            BackendFailed: The backend itself broke down.
            NodesMissing: Not all nodes arrived in time.
            NoProgress: The nodes were silent for too long.
        """

    def stop(self, reason: str) -> None:
        """Ends all nodes and returns when they are gone or no longer in reach."""

    def grant(self, grace_seconds: float) -> None:
        """Changes how long the evaluator has to end by itself once the training is done."""

    def status(self) -> tuple[NodeStatus, ...]:
        """Returns how the nodes are doing, in rank order."""


class Backend(Protocol):
    """Starts nodes somewhere."""

    @property
    def name(self) -> str:
        """The word for it in records and messages."""

    @property
    def application(self) -> str | None:
        """The id of the application that runs belong to, if the backend has such a thing."""

    @property
    def encrypts(self) -> bool:
        """Whether it encrypts connections of its own; those of runs are then, too, unless their user says otherwise."""

    def start(self, tasks: Sequence[NodeTask], options: GroupOptions) -> Group:
        """Starts one node per task."""
