"""Pours a partition into the nodes: what a Spark task does."""

from __future__ import annotations

import queue
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from hopyard.errors import PeerGone, Superseded, WireTimeout
from hopyard.feed.inbox import Taken
from hopyard.feed.ledger import Share
from hopyard.feed.pieces import PIECE_BYTES, Piece
from hopyard.feed.ranges import Ranges
from hopyard.feed.service import CLAIM, OPEN, train_stream
from hopyard.wire import Endpoint, Tagged, WireClient

CALL_SECONDS = 30.0
STREAM_SECONDS = 7 * 24 * 3600.0
AHEAD_PIECES = 2
RELUCTANCE_SECONDS = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedNode:
    """A node that can be fed."""

    rank: int
    host: str
    endpoint: Endpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedPlan:
    """What a feeder has to know; travels with the Spark tasks."""

    feed: int
    epoch: int
    nodes: tuple[FeedNode, ...]
    piece_bytes: int = PIECE_BYTES

    def home(self, partition: int) -> FeedNode:
        """Returns the node that knows the attempts to feed a partition."""
        return self.nodes[partition % len(self.nodes)]

    def by_distance(self, partition: int, host: str) -> list[FeedNode]:
        """Returns the nodes in the order in which to try them: those on the same host first."""
        turn = partition % len(self.nodes)
        rotated = [*self.nodes[turn:], *self.nodes[:turn]]
        return sorted(rotated, key=lambda node: node.host != host)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionReport:
    """What became of the rows of a partition.

    Attributes:
        partition: Its number.
        rows: How many rows it has, as far as they were computed.
        sent: How many rows each node has taken, by rank.
        skipped: Rows that an earlier attempt had brought.
        dropped: Rows that were on their way to a node that ended or wanted no more.
        is_whole: Whether all rows were computed; not so if there was no node left to take them.
        waited_seconds: How long the task waited for nodes that were full.
    """

    partition: int
    rows: int
    sent: dict[int, int] = field(default_factory=dict)
    skipped: int = 0
    dropped: int = 0
    is_whole: bool = True
    waited_seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Returns this as it is stored."""
        return {**asdict(self), "sent": {str(rank): rows for rank, rows in self.sent.items()}}


class Link:
    """One node, and the thread that writes to it what it takes from the feeder's queue."""

    def __init__(self, node: FeedNode, pour: Pour) -> None:
        self.node = node
        self.offered = 0
        self.taken = 0
        self.error: BaseException | None = None
        self.ended = Taken.KEPT
        self._pour = pour
        self._thread = threading.Thread(target=self._run, name=f"hopyard-feed-{node.rank}", daemon=True)

    @property
    def is_open(self) -> bool:
        """Whether the node takes pieces."""
        return self._thread.is_alive()

    def start(self) -> Self:
        """Begins to write."""
        self._thread.start()
        return self

    def join(self, timeout: float | None = None) -> None:
        """Waits for the end of the thread."""
        self._thread.join(timeout)

    def _run(self) -> None:
        try:
            with WireClient(
                self.node.endpoint, timeout=CALL_SECONDS, stream_timeout=STREAM_SECONDS
            ) as client:
                first = self._pour.next_piece()
                if first is None:
                    return
                reply = client.put(self._pour.stream, first.batch.schema, self._items(first))
            self.taken = int(str(reply["rows"]))
            self.ended = Taken(reply["end"])
        except (PeerGone, WireTimeout):
            self.ended = Taken.STOPPED  # the driver knows whether the node has failed
        except BaseException as error:  # noqa: BLE001  the edge of a thread: the task raises it
            self.error = error

    def _items(self, piece: Piece | None) -> Iterator[Tagged]:
        while piece is not None:
            self.offered += piece.rows
            yield Tagged(piece.batch, piece.tag)
            piece = self._pour.next_piece()


class Pour:
    """One partition on its way into the nodes."""

    def __init__(self, plan: FeedPlan, share: Share, attempt: int, host: str) -> None:
        self.stream = train_stream(share, attempt)
        self._attempt = attempt
        self._partition = share.partition
        self._queue: queue.Queue[Piece | None] = queue.Queue(AHEAD_PIECES)
        self._idle = [Link(node, self) for node in plan.by_distance(share.partition, host)]
        self._near = sum(link.node.host == host for link in self._idle)
        self._links: list[Link] = []
        self.waited = 0.0

    def next_piece(self) -> Piece | None:
        """Returns the next piece to send; None at the end. Called by the threads of the links."""
        piece = self._queue.get()
        if piece is None:
            self._queue.put(None)  # for the other links
        return piece

    def run(self, pieces: Iterable[Piece]) -> int:
        """Sends all pieces; returns how many rows were handed over, fewer if no node is left."""
        rows = 0
        for piece in pieces:
            if not self._links:
                self._start(max(1, self._near))
            if not self._hand_over(piece):
                break
            rows += piece.rows
        self._finish()
        return rows

    @property
    def links(self) -> Sequence[Link]:
        """The links that were used."""
        return self._links

    def _hand_over(self, piece: Piece) -> bool:
        began = time.monotonic()
        while any(link.is_open for link in self._links) or self._start(1):
            try:
                self._queue.put(piece, timeout=RELUCTANCE_SECONDS)
            except queue.Full:
                self._check()
                self._start(1)  # those at hand are full: try one that is farther away
            else:
                self.waited += time.monotonic() - began
                return True
        return False

    def _finish(self) -> None:
        while any(link.is_open for link in self._links):
            try:
                self._queue.put(None, timeout=RELUCTANCE_SECONDS)
                break
            except queue.Full:
                self._check()
        for link in self._links:
            link.join()
        self._check()

    def _start(self, number: int) -> bool:
        """Begins to write to some more nodes; returns whether there are any."""
        chosen, self._idle = self._idle[:number], self._idle[number:]
        self._links += [link.start() for link in chosen]
        return bool(chosen)

    def _check(self) -> None:
        """Raises what a link met, if it is not merely that its node has ended."""
        for link in self._links:
            if link.error is not None:
                raise link.error
            if link.ended is Taken.BARRED:
                raise Superseded(self._partition, self._attempt)


def feed_partition(
    plan: FeedPlan,
    partition: int,
    attempt: int,
    cut: Callable[[Ranges], Iterable[Piece]],
    *,
    host: str | None = None,
) -> PartitionReport:
    """Feeds one partition to the nodes of a plan.

    Args:
        plan: The nodes.
        partition: Number of the partition.
        attempt: A number that is higher for every later attempt of the same task.
        cut: Returns the pieces of the partition without some ranges of rows.
        host: Name of this machine.

    Raises:
        Superseded: A later attempt has taken over.
    """
    share = Share(plan.feed, plan.epoch, partition)
    done = _taken_before(plan, share, attempt)
    pour = Pour(plan, share, attempt, socket.gethostname() if host is None else host)
    counted = _Counted(cut(done))
    handed = pour.run(counted)
    sent = {link.node.rank: link.taken for link in pour.links if link.taken}
    return PartitionReport(
        partition=partition,
        rows=counted.rows + done.rows,
        sent=sent,
        skipped=done.rows,
        dropped=counted.rows - sum(sent.values()),
        is_whole=handed == counted.rows,
        waited_seconds=round(pour.waited, 3),
    )


class _Counted:
    """Pieces, and how many rows they were."""

    def __init__(self, pieces: Iterable[Piece]) -> None:
        self.rows = 0
        self._pieces = pieces

    def __iter__(self) -> Iterator[Piece]:
        for piece in self._pieces:
            self.rows += piece.rows
            yield piece


def _taken_before(plan: FeedPlan, share: Share, attempt: int) -> Ranges:
    """Returns the rows that earlier attempts brought to any node, and bars those attempts."""
    who: dict[str, Any] = {**share._asdict(), "attempt": attempt}
    taken = Ranges()
    first = _ask(plan.home(share.partition), OPEN, who)
    if first is not None and not first["earlier"]:
        return taken
    for node in plan.nodes:
        answer = _ask(node, CLAIM, who)
        for start, stop in () if answer is None else answer["ranges"]:
            taken.add(start, stop)
    return taken


def _ask(node: FeedNode, method: str, message: dict[str, Any]) -> dict[str, Any] | None:
    """Returns a node's answer; None if it has ended, and if it failed the driver will say so."""
    try:
        with WireClient(node.endpoint, timeout=CALL_SECONDS) as client:
            return client.call(method, message)
    except PeerGone:
        return None
