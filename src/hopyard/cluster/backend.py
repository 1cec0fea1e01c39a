"""Where the nodes of a run are run: the seam between a plan and the processes that carry it out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from hopyard.cluster.node import NodeTask
from hopyard.cluster.outcome import Outcome


class Group(Protocol):
    """The nodes of one run, under way."""

    def wait(self, timeout: float | None = None) -> tuple[Outcome, ...] | None:
        """Returns the outcomes in rank order, or None if some nodes still run after ``timeout`` seconds.

        Raises:
            BackendFailed: The backend itself broke down.
        """

    def stop(self) -> None:
        """Ends all nodes and returns when they are gone or no longer in reach."""


class Backend(Protocol):
    """Starts nodes somewhere."""

    @property
    def name(self) -> str:
        """The word for it in records and messages."""

    @property
    def application(self) -> str | None:
        """The id of the application that runs belong to, if the backend has such a thing."""

    def start(self, tasks: Sequence[NodeTask]) -> Group:
        """Starts one node per task."""
