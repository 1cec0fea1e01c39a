"""How many rows the nodes of a run were fed, and how fast they come."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hopyard.feed.state import STATE, FeedState
from hopyard.protocol.node_status import NodeStatus, Phase
from hopyard.protocol.plan import TRAINERS, Role

if TYPE_CHECKING:
    from hopyard.feed.account import EpochAccount

WINDOW_SECONDS = 5.0  # rows come two megabytes at a time
LEAST_SECONDS = 1.0
LARGEST_EXACT = 1_000_000
UNITS = "kMGT"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Rows that have come to a node, or to several.

    Attributes:
        count: How many since the start.
        waiting: How many of them the function has not drawn yet.
        per_second: How many in each of the last seconds; None if that is not known yet, or the nodes have ended.
    """

    count: int
    waiting: int = 0
    per_second: int | None = None

    @property
    def words(self) -> str:
        """This as part of a sentence."""
        fast = "" if self.per_second is None else f", {quantity(self.per_second)} rows/s"
        waiting = f", {quantity(self.waiting)} waiting" if self.waiting else ""
        return f"{quantity(self.count)} rows{fast}{waiting}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fed:
    """What there is to show of a feed.

    Attributes:
        rows: What has come to each node that is fed, by rank.
        under_way: Which epoch or micro-batch is being fed, in words; nothing if that says nothing.
        done: What was fed last, in words.
        number: How many epochs, or micro-batches, were fed in all.
    """

    rows: Mapping[int, Rows]
    under_way: str = ""
    done: str = ""
    number: int = 0

    def of(self, nodes: Iterable[NodeStatus]) -> Rows | None:
        """Returns what has come to some nodes together; None if none of them is fed."""
        rows = [self.rows[node.rank] for node in nodes if node.rank in self.rows]
        rates = [row.per_second for row in rows if row.per_second is not None]
        if not rows:
            return None
        return Rows(
            count=sum(row.count for row in rows),
            waiting=sum(row.waiting for row in rows),
            per_second=sum(rates) if rates else None,
        )


class FeedMeter:
    """Counts what the nodes of a run are fed, from one look at their notes to the next; for several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._looks: deque[tuple[float, dict[int, int]]] = deque()
        self._epochs = 0
        self._before: int | None = None  # rows that had come before the feed under way
        self._size = 0
        self._done = 0
        self._number = 0
        self._last = ""
        self._batch = ""

    def begin(self, epochs: int) -> None:
        """Records that data is fed from now on, so often."""
        with self._lock:
            self._epochs, self._before, self._size, self._done = epochs, None, 0, 0
            self._batch = ""

    def end(self) -> None:
        """Records that all of it was fed."""
        with self._lock:
            self._epochs = 0

    def account(self, account: EpochAccount) -> None:
        """Records an epoch that was fed, or, if none is under way, of a micro-batch."""
        with self._lock:
            if not self._epochs:
                self._batch = f"micro-batch {account.epoch} is fed"
                return
            self._number += 1
            self._done = account.epoch + 1
            self._size = account.rows
            which = f"epoch {self._done} of {self._epochs}: " if self._epochs > 1 else ""
            rest = "" if account.is_whole else ", and no more were wanted"
            self._last = f"{which}{quantity(account.rows)} rows fed{rest}"

    def look(self, nodes: Sequence[NodeStatus], now: float) -> Fed | None:
        """Returns how the feed is doing; None if no node has ever opened one.

        Args:
            nodes: The nodes as they are now.
            now: The time in seconds.
        """
        states = {node.rank: FeedState.of(node.notes) for node in nodes if STATE in node.notes}
        running = {node.rank for node in nodes if node.phase is Phase.RUNNING}
        with self._lock:
            self._remember({rank: state.received for rank, state in states.items()}, now)
            if not states and not self._number:
                return None
            rows = {rank: self._rows(rank, state, rank in running) for rank, state in states.items()}
            under_way = self._under_way(sum(row.count for row in rows.values()))
            return Fed(rows=rows, under_way=under_way, done=self._last, number=self._number)

    def _rows(self, rank: int, state: FeedState, is_running: bool) -> Rows:  # noqa: FBT001  a step of `look`
        if not is_running:  # what it has thrown away at its end is of no interest
            return Rows(count=state.received)
        waiting = state.received - state.consumed
        return Rows(count=state.received, waiting=waiting, per_second=self._rate(rank))

    def _remember(self, counts: dict[int, int], now: float) -> None:
        if self._looks:
            last = self._looks[-1][1]
            if any(counts.get(rank, 0) < count for rank, count in last.items()):
                self._looks.clear()  # the nodes were started again
                self._before = 0
        while self._looks and now - self._looks[0][0] > WINDOW_SECONDS:
            self._looks.popleft()
        self._looks.append((now, counts))
        if self._before is None:
            self._before = sum(counts.values())

    def _rate(self, rank: int) -> int | None:
        (began, first), (ended, last) = self._looks[0], self._looks[-1]
        if ended - began < LEAST_SECONDS:
            return None
        return _rounded((last[rank] - first.get(rank, 0)) / (ended - began))

    def _under_way(self, rows: int) -> str:
        if self._epochs < 2:
            return self._batch
        came = rows - (self._before or 0)
        # epochs that the nodes read again are accounted for at the end of all of them
        epoch = max(self._done, came // self._size if self._size else 0)
        return f"epoch {min(epoch + 1, self._epochs)} of {self._epochs}"


def with_starting(nodes: Iterable[NodeStatus]) -> tuple[NodeStatus, ...]:
    """Returns nodes of a run that is fed; one that runs and has taken no row yet is starting: it imports, or builds a model."""
    return tuple(replace(node, phase=Phase.STARTING) if _is_starting(node) else node for node in nodes)


def _is_starting(node: NodeStatus) -> bool:
    feed = FeedState.of(node.notes)
    is_fed = node.phase is Phase.RUNNING and Role(node.role) in TRAINERS
    return is_fed and not feed.consumed and not feed.is_stopped and node.step is None


def quantity(number: int) -> str:
    """Returns a number for a person: whole if it is less than a million, with three digits if it is more."""
    if number < LARGEST_EXACT:
        return f"{number:,}"
    value, unit = float(number), ""
    for following in UNITS:
        if value < 999.5:
            break
        value, unit = value / 1000, following
    return f"{value:.3g}{unit}"


def _rounded(rate: float) -> int:
    """Returns a rate with two digits: further ones would change with every look."""
    return int(float(f"{rate:.2g}"))
