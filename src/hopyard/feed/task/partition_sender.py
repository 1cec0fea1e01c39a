"""Sends a partition into the nodes: what a Spark task does."""

from __future__ import annotations

import itertools
import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from hopyard.errors import Superseded
from hopyard.feed.node.level import Taken
from hopyard.feed.node.received_rows import PartitionKey
from hopyard.feed.node.service import CLAIM, OPEN
from hopyard.feed.pieces import PIECE_BYTES, Piece
from hopyard.feed.ranges import Ranges
from hopyard.feed.remote import FeedNode, ask_node
from hopyard.feed.shared_memory.buffer import SharedBuffer
from hopyard.feed.shared_memory.pool import BufferPool
from hopyard.feed.shared_memory.transfer import placed
from hopyard.feed.signed_rows import RowSigner
from hopyard.feed.task.node_sender import WINDOW_PIECES, NodeSender

RELUCTANCE_SECONDS = 0.05
JOIN_SECONDS = 5.0
EVEN_BYTES = 8 << 20
LEAD_BYTES = 32 << 20
BY_RANK = ("sent", "found")
"""The fields of a report that have ranks as keys, which are texts in JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedPlan:
    """What a feeder has to know; travels with the Spark tasks.

    Attributes:
        feed: Number of the feed in its run.
        epoch: Number of the epoch.
        nodes: Whom to feed.
        signer: Signs rows that are pickled.
        seed: Decides on the order of the rows within a piece; None: as they come.
        piece_bytes: Size of the pieces.
        even_bytes: How much of a partition is spread evenly, before nodes on the host of the task come first.
    """

    feed: int
    epoch: int
    nodes: tuple[FeedNode, ...]
    signer: RowSigner
    seed: int | None = None
    piece_bytes: int = PIECE_BYTES
    even_bytes: int = EVEN_BYTES

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
        found: How many each node had from earlier attempts, which were not sent again.
        dropped: Rows that were on their way to a node that ended or wanted no more.
        is_whole: Whether all rows were computed; not so if there was no node left to take them.
        waited_seconds: How long the task waited for nodes that were full.
    """

    partition: int
    rows: int
    sent: dict[int, int] = field(default_factory=dict)
    found: dict[int, int] = field(default_factory=dict)
    dropped: int = 0
    is_whole: bool = True
    waited_seconds: float = 0.0

    @property
    def skipped(self) -> int:
        """How many rows earlier attempts had brought."""
        return sum(self.found.values())

    @property
    def by_node(self) -> dict[int, int]:
        """How many rows of the partition each node has, of whichever attempt."""
        return dict(Counter(self.sent) + Counter(self.found))

    def to_json(self) -> dict[str, Any]:
        """Returns this as it is stored."""
        return {**asdict(self), **{name: _as_keys(getattr(self, name)) for name in BY_RANK}}

    def to_text(self) -> str:
        """Returns this as it leaves a Spark task."""
        return json.dumps(self.to_json())


class PartitionSender:
    """One partition on its way into the nodes: each piece goes to a node that has room and got the least."""

    def __init__(
        self, plan: FeedPlan, key: PartitionKey, attempt: int, *, host: str, buffer: SharedBuffer | None
    ) -> None:
        self._attempt = attempt
        self._partition = key.partition
        self._changed = threading.Condition()
        self._links = [
            NodeSender(
                node,
                key,
                attempt,
                changed=self._changed,
                is_near=node.host == host,
                buffer=buffer,
                window_bytes=WINDOW_PIECES * plan.piece_bytes,
            )
            for node in plan.by_distance(key.partition, host)
        ]
        self._buffer = buffer
        self._even_bytes = plan.even_bytes
        self._goes_far = False
        self.waited = 0.0

    def run(self, pieces: Iterable[Piece]) -> bool:
        """Sends all pieces and waits until they are taken; returns False if there is no node left to take them."""
        try:
            return all(map(self._send, pieces)) and self._settle()
        finally:
            for link in self._links:
                link.close()
            for link in self._links:
                link.join(JOIN_SECONDS)

    @property
    def is_settled(self) -> bool:
        """Whether no node has ended: one that has may have been told of pieces that it did not look at."""
        return all(link.ended in (None, Taken.KEPT) for link in self._links)

    @property
    def taken(self) -> dict[int, int]:
        """How many rows each node has taken, by rank."""
        return {link.node.rank: link.taken_rows for link in self._links if link.taken_rows}

    def _send(self, piece: Piece) -> bool:
        piece = placed(piece, self._buffer)
        with self._changed:
            link = self._choose()
            if link is not None:
                link.send(piece)
            return link is not None

    def _settle(self) -> bool:
        """Waits until all is confirmed; what an ended node did not take goes to another one."""
        with self._changed:
            while True:
                for piece in self._returned():
                    link = self._choose()
                    if link is None:
                        return False
                    link.send(piece)
                if not any(link.is_busy for link in self._links):
                    return True
                self._changed.wait()

    def _choose(self) -> NodeSender | None:
        """Returns the link for the next piece, once one has room; None if all nodes have ended."""
        began = time.monotonic()
        while open_links := [link for link in self._links if link.ended is None]:
            self._check()
            best = min((link for link in open_links if link.has_room), key=self._debt, default=None)
            first = min(open_links, key=self._debt)
            if best is not None and (best.is_near or not first.is_near or self._goes_far):
                self.waited += time.monotonic() - began
                return best
            # a near node that is full for a moment is waited for, before a far one gets what it could have had
            timed_out = not self._changed.wait(None if best is None else RELUCTANCE_SECONDS)
            self._goes_far = self._goes_far or timed_out
        self._check()
        return None

    def _debt(self, link: NodeSender) -> int:
        """Returns by how much a link is ahead of others; of a big partition, a near node may get more than a far one."""
        leads = link.is_near and sum(each.sent_bytes for each in self._links) >= self._even_bytes
        return link.sent_bytes - (LEAD_BYTES if leads else 0)

    def _returned(self) -> list[Piece]:
        """Returns what ended nodes did not take; it may lie where one of them still reads, so it has to be sent."""
        ended = [link for link in self._links if link.ended is not None]
        return [replace(piece, place=None) for link in ended for piece in link.unconfirmed()]

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
    buffers: BufferPool,
    host: str | None = None,
) -> PartitionReport:
    """Feeds one partition to the nodes of a plan.

    Args:
        plan: The nodes.
        partition: Number of the partition.
        attempt: A number that is higher for every later attempt of the same task.
        cut: Returns the pieces of the partition without some ranges of rows.
        buffers: Those of this process.
        host: Name of this machine.

    Raises:
        Superseded: A later attempt has taken over.
    """
    key = PartitionKey(plan.feed, plan.epoch, partition)
    before = _taken_before(plan, key, attempt)
    done = Ranges(itertools.chain.from_iterable(before.values()))
    here = socket.gethostname() if host is None else host
    counted = _Counted(cut(done))
    with buffers.lend(plan.nodes, is_near=any(node.host == here for node in plan.nodes)) as lent:
        sender = PartitionSender(plan, key, attempt, host=here, buffer=lent.buffer)
        is_whole = sender.run(counted)
        lent.is_settled = is_whole and sender.is_settled
    sent = sender.taken
    return PartitionReport(
        partition=partition,
        rows=counted.rows + done.rows,
        sent=sent,
        found={rank: ranges.rows for rank, ranges in before.items()},
        dropped=counted.rows - sum(sent.values()),
        is_whole=is_whole,
        waited_seconds=round(sender.waited, 3),
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


def _taken_before(plan: FeedPlan, key: PartitionKey, attempt: int) -> dict[int, Ranges]:
    """Returns the rows that earlier attempts brought to the nodes, by rank, and bars those attempts."""
    who: dict[str, Any] = {**key._asdict(), "attempt": attempt}
    first = ask_node(plan.home(key.partition), OPEN, who)
    if first is not None and not first["earlier"]:
        return {}
    answers = {node.rank: ask_node(node, CLAIM, who) for node in plan.nodes}
    return {
        rank: Ranges((start, stop) for start, stop in answer["ranges"])
        for rank, answer in answers.items()
        if answer is not None and answer["ranges"]
    }


def _as_keys(rows: Mapping[int, int]) -> dict[str, int]:
    return {str(rank): count for rank, count in rows.items()}
