"""The way from a feeder to one node."""

from __future__ import annotations

import logging
import queue
import threading
from collections import deque
from collections.abc import Iterator

from hopyard.errors import PeerGone, WireTimeout
from hopyard.feed.node.level import Taken, Verdict
from hopyard.feed.node.received_rows import PartitionKey
from hopyard.feed.node.service import COUNTS, train_stream
from hopyard.feed.pieces import Piece
from hopyard.feed.remote import CALL_SECONDS, FeedNode, ask_node
from hopyard.feed.shared_memory.buffer import SharedBuffer
from hopyard.feed.shared_memory.transfer import BufferSender
from hopyard.wire import BatchStream, Json, Tagged, WireClient

LOG = logging.getLogger(__name__)
STREAM_SECONDS = 7 * 24 * 3600.0
WINDOW_PIECES = 8
PARCEL_PIECES = 4  # a message costs about as much as the rows of a piece that lie in shared memory
LINGER_SECONDS = 0.01


class NodeSender:
    """The way to one node: a thread that sends it pieces and hears which of them it took.

    What is not yet confirmed is kept, and can be sent to another node if this one ends.

    Args:
        node: The node.
        key: What is brought to it.
        attempt: Who brings it.
        changed: Tells those who wait that something has changed.
        is_near: Whether the node is on this host.
        buffer: What may be shared with it then.
        window_bytes: How much may be on its way, if these are more than a few pieces.
    """

    def __init__(
        self,
        node: FeedNode,
        key: PartitionKey,
        attempt: int,
        *,
        changed: threading.Condition,
        is_near: bool,
        buffer: SharedBuffer | None,
        window_bytes: int,
    ) -> None:
        self.node = node
        self.is_near = is_near
        self.taken_rows = 0
        self.sent_bytes = 0
        self.ended: Taken | None = None
        self.error: BaseException | None = None
        self._key = key
        self._attempt = attempt
        self._changed = changed
        self._buffer = buffer if is_near else None
        self._window_bytes = window_bytes
        self._unconfirmed_bytes = 0
        self._unconfirmed: deque[Piece] = deque()
        self._queue: queue.SimpleQueue[Piece | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=f"hopyard-feed-{node.rank}", daemon=True)

    @property
    def has_room(self) -> bool:
        """Whether another piece can be sent: of small ones more; the caller holds the lock."""
        is_open = len(self._unconfirmed) < WINDOW_PIECES or self._unconfirmed_bytes < self._window_bytes
        return self.ended is None and is_open

    @property
    def is_busy(self) -> bool:
        """Whether the node has still to confirm something; the caller holds the lock."""
        return bool(self._unconfirmed)

    def send(self, piece: Piece) -> None:
        """Sends a piece; the caller holds the lock."""
        if not self.sent_bytes:
            self._thread.start()
        self.sent_bytes += max(1, piece.batch.nbytes)
        self._unconfirmed_bytes += piece.batch.nbytes
        self._unconfirmed.append(piece)
        self._queue.put(piece)

    def unconfirmed(self) -> list[Piece]:
        """Returns what a node that has ended did not take, and forgets it; the caller holds the lock."""
        pieces = list(self._unconfirmed)
        self._unconfirmed.clear()
        self._unconfirmed_bytes = 0
        return pieces

    def close(self) -> None:
        """Ends the stream."""
        self._queue.put(None)

    def join(self, seconds: float) -> None:
        """Waits for the thread, if there is one; it is a daemon, and may be left to itself."""
        if self.sent_bytes:
            self._thread.join(seconds)

    def _run(self) -> None:
        ended = Taken.STOPPED
        try:
            ended = self._feed()
        except BaseException as error:  # noqa: BLE001  the edge of a thread: the task raises it
            self.error = error
        with self._changed:
            self.ended = ended
            self._changed.notify_all()

    def _feed(self) -> Taken:
        """Sends what there is to send, and returns how it ended; of a node that is gone, the driver knows why."""
        try:
            return self._converse()
        except PeerGone as error:
            if self._is_there():
                raise  # nobody knows what it took of what it was sent, but the next attempt of the task asks it
            reason: Exception = error
        except WireTimeout as error:
            reason = error
        LOG.info("node %d takes no more pieces: %s", self.node.rank, reason)
        return Taken.STOPPED

    def _is_there(self) -> bool:
        """Tells whether the node still answers."""
        asked: dict[str, Json] = {"feed": self._key.feed, "epoch": self._key.epoch}
        return ask_node(self.node, COUNTS, asked) is not None

    def _converse(self) -> Taken:
        first = self._queue.get()
        assert first is not None
        with WireClient(self.node.endpoint, timeout=CALL_SECONDS, stream_timeout=STREAM_SECONDS) as client:
            sender = BufferSender(client, self._buffer)
            stream = train_stream(self._key, self._attempt, sender.buffer)
            # closed however it ends: the thread that pours would otherwise wait for the deadline of the stream
            with client.exchange(stream, first.batch.schema, self._items(first, sender)) as answers:
                return self._confirmed(answers)

    def _confirmed(self, answers: BatchStream) -> Taken:
        """Records what the node confirms, and returns how it ended."""
        for item in answers.tagged():
            verdict = Verdict.of(item.tag)
            with self._changed:
                for _ in range(verdict.kept):
                    piece = self._unconfirmed.popleft()
                    self._unconfirmed_bytes -= piece.batch.nbytes
                    self.taken_rows += piece.rows
                self._changed.notify_all()
            if verdict.taken is not Taken.KEPT:
                return verdict.taken
        return Taken.KEPT

    def _items(self, first: Piece, sender: BufferSender) -> Iterator[Tagged]:
        pieces = [first]
        while pieces:
            yield from sender.items(pieces)
            pieces = self._next_pieces(PARCEL_PIECES if sender.has_buffer else 1)

    def _next_pieces(self, most: int) -> list[Piece]:
        """Returns the next pieces that come about together; none at the end."""
        pieces: list[Piece] = []
        while len(pieces) < most:
            try:
                piece = self._queue.get(timeout=LINGER_SECONDS if pieces else None)
            except queue.Empty:
                break
            if piece is None:
                self._queue.put(None)  # for the next call, which has none before it
                break
            pieces.append(piece)
        return pieces
