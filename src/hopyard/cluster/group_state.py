"""Who of a group is alive and whether the group is to end: events in, instructions out, no I/O."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """What the driver tells a node in answer to a heartbeat: go on, or stop for a reason."""

    stop: str | None = None


class GroupState:
    """The nodes of one run as the driver knows them from their messages.

    The first node that fails ends the group: all others are told to stop with their next heartbeat.
    Messages may come twice or late; a node that ended stays ended.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._running: set[int] = set()
        self._ended: set[int] = set()
        self._stop: str | None = None

    @property
    def running(self) -> int:
        """How many nodes have come and not ended."""
        return len(self._running)

    def beat(self, rank: int) -> Instruction:
        """Takes note that a node is there and returns what it is to do."""
        self._check(rank)
        if rank not in self._ended:
            self._running.add(rank)
        return Instruction(stop=self._stop)

    def end(self, rank: int, *, failed: bool) -> None:
        """Takes note that a node has ended."""
        self._check(rank)
        self._ended.add(rank)
        self._running.discard(rank)
        if failed:
            self.stop(f"node {rank} failed")

    def stop(self, reason: str) -> None:
        """Ends the group; the first reason counts."""
        if self._stop is None:
            self._stop = reason

    def _check(self, rank: int) -> None:
        if not 0 <= rank < self._size:
            raise ValueError(f"rank {rank} is none of the {self._size} nodes of this run")
