"""What waits in a node to be consumed: bounded in bytes, with an account of all that came."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

import pyarrow as pa

from hopyard.errors import NotFed, ResultsMissing
from hopyard.feed.cache.validation_rows import TOLD_SECONDS
from hopyard.feed.node.epoch_marks import EpochMarks, rows_until_end
from hopyard.feed.node.inference_request import ENDED, InferenceRequest
from hopyard.feed.node.inference_requests import InferenceRequests
from hopyard.feed.node.level import EpochEnd, Level, Taken, Unread
from hopyard.feed.node.received_rows import PartitionKey, ReceivedRows
from hopyard.feed.node.rows import Rows
from hopyard.feed.pieces import Piece
from hopyard.feed.ranges import Ranges

INBOX_BYTES = 32 << 20
POLL_SECONDS = 1.0
NOTHING_FED = f"nothing was fed for {TOLD_SECONDS:g} s since the nodes started again; call train() again"
NEVER_USED = (
    "nothing was fed to this run; in the driver program, call train() or inference() before "
    "shutdown() or wait(), or before the with block ends"
)


class Inbox:
    """Takes pieces from many threads and hands them to the training function, in the order of their coming.

    Args:
        limit_bytes: How much may wait; a piece that is bigger waits alone.
        first_epoch: The number of the first epoch that comes; None if that is known only when it comes.
        on_read: Called, by who reads, when another epoch has been read.
    """

    def __init__(
        self,
        *,
        limit_bytes: int = INBOX_BYTES,
        first_epoch: int | None = 0,
        on_read: Callable[[], None] = lambda: None,
    ) -> None:
        self._limit = limit_bytes
        self._on_read = on_read
        self._epochs = EpochMarks(first_epoch)
        self._changed = threading.Condition()
        self._received_rows = ReceivedRows()
        self._pieces: deque[Piece | EpochEnd] = deque()
        self._requests = InferenceRequests()
        self._bytes = 0
        self._received = 0
        self._waiting = 0
        self._blocked = 0
        self._ended = False
        self._stopped = False
        self._was_asked = False
        self._was_used = True

    def begin(self, feed: int, epoch: int, epochs_left: int) -> None:
        """Records that an epoch begins, its number among those of all feeds, and how many are left of this one; 0 for a stream."""
        with self._changed:
            self._mark(self._epochs.begin(feed, epoch, epochs_left))

    def end_epoch(self, feed: int, epoch: int) -> None:
        """Records that all rows of an epoch have come; a second time changes nothing."""
        with self._changed:
            if not self._stopped:
                self._mark(self._epochs.end(feed, epoch))

    def put(self, piece: Piece, key: PartitionKey, attempt: int) -> Taken:
        """Keeps a piece of a partition once there is room for it."""
        size = piece.batch.nbytes
        with self._changed:
            self._wait_for_room(size, lambda: self._received_rows.is_barred(key, attempt))
            if self._stopped:
                return Taken.STOPPED
            if self._received_rows.is_barred(key, attempt):
                return Taken.BARRED
            self._received_rows.take(key, piece.start, piece.rows)
            return self._add(piece, size)

    def replay(self, piece: Piece) -> Taken:
        """Keeps a piece that was here before, in an earlier epoch."""
        size = piece.batch.nbytes
        with self._changed:
            self._wait_for_room(size, lambda: False)
            return Taken.STOPPED if self._stopped else self._add(piece, size)

    def go_on(self) -> None:
        """Records that the function asks for more, and so is through with all that it has got."""
        if self._epochs.ask():
            self._on_read()

    def leave_out(self, number: tuple[int, int], rows: int) -> None:
        """Records that so many rows of an epoch, of which the feed and the number are given, were not used."""
        with self._changed:
            self._epochs.leave_out(number, rows)

    def draw(
        self, rows: int = 1, *, is_alone: Callable[[], bool] = lambda: False
    ) -> Piece | EpochEnd | InferenceRequest | None:
        """Returns the next piece or end of an epoch, or a request with some rows; None once there is nothing and none will come.

        This waits as long as the node has a lease: who feeds it may take his time.

        Args:
            rows: How many rows a request should have; fewer if no more come, or there is no room for more.
            is_alone: Tells whether nobody but the caller could give results.

        Raises:
            NotFed: The driver program has ended the feed without feeding anything.
            ResultsMissing: All rows that came have been handed out, and nobody is there to give the results that Spark
                waits for.
        """
        with self._changed:
            self._was_asked = True
            while not self._pieces:
                request = self._requests.ready(rows, is_full=bool(self._blocked))
                if request is not None:
                    return request
                if self._stopped or (self._ended and self._was_used and not self._requests):
                    return None
                if self._ended and not self._was_used:
                    raise NotFed("reading the feed", NEVER_USED)
                self._wait_for_more(is_alone)
            piece = self._pieces.popleft()
            if isinstance(piece, Piece):
                self._release(piece.batch.nbytes, piece.rows)
            else:
                self._epochs.draw(piece)
            return piece

    def new_request(self, name: str, stage: int | None = None) -> InferenceRequest:
        """Returns a new request of a Spark stage, to be filled with `ask`."""
        with self._changed:
            request = InferenceRequest(name, self._changed, stage)
            self._requests.add(request)
            if self._stopped:
                self._turn_away()
            return request

    def ask(self, request: InferenceRequest, piece: Piece) -> Taken:
        """Adds rows to a request once there is room for them."""
        size = piece.batch.nbytes
        with self._changed:
            self._wait_for_room(size, lambda: request.is_dead)
            while request.is_sated and not request.is_dead:
                self._changed.wait()
            if request.is_dead:
                return Taken.STOPPED
            request.add(piece)
            self._bytes += size
            self._received += piece.rows
            self._waiting += piece.rows
            self._changed.notify_all()
            return Taken.KEPT

    def complete(self, request: InferenceRequest) -> None:
        """Records that all rows of a request have come."""
        with self._changed:
            request.is_complete = True
            self._changed.notify_all()

    def take(self, request: InferenceRequest, rows: int) -> Rows:
        """Returns the next rows of a request, at most so many."""
        with self._changed:
            taken, size = request.take(rows)
            self._release(size, len(taken))
            return taken

    def answer(self, request: InferenceRequest, results: pa.RecordBatch, rows: int) -> None:
        """Takes the results for the next rows of a request."""
        with self._changed:
            request.answer(results, rows)
            self._changed.notify_all()

    def refuse(self, stage: int, reason: str) -> None:
        """Records that a Spark stage got results that do not fit, whoever computes them again."""
        with self._changed:
            self._requests.refuse(stage, reason)

    def close(self, request: InferenceRequest) -> None:
        """Forgets a request, answered or not."""
        with self._changed:
            self._drop(request)

    def open(self, key: PartitionKey, attempt: int) -> bool:
        """Records that an attempt begins; returns whether it may not be the first one to bring a partition."""
        with self._changed:
            return self._received_rows.open(key, attempt)

    def claim(self, key: PartitionKey, attempt: int) -> Ranges:
        """Gives a partition to an attempt alone; returns the rows of it that are here."""
        with self._changed:
            taken = Ranges(self._received_rows.claim(key, attempt))
            self._changed.notify_all()  # those that wait with pieces of an older attempt
            return taken

    def counts(self, feed: int, epoch: int) -> dict[int, int]:
        """Returns how many rows of an epoch came, by partition."""
        with self._changed:
            return dict(self._received_rows.counts(feed, epoch))

    def forget(self, feed: int, epoch: int) -> None:
        """Drops the account of an epoch, which is over."""
        with self._changed:
            self._received_rows.forget(feed, epoch)

    def end(self, *, was_used: bool = True) -> None:
        """Records that nothing more will come; what waits can still be drawn.

        Args:
            was_used: Whether the driver program has fed anything at all, to whichever attempt of the nodes.
        """
        with self._changed:
            self._ended = True
            self._was_used = was_used
            self._changed.notify_all()

    def stop(self, reason: str = ENDED, *, ahead: int = 0, has_failed: bool = False) -> None:
        """Refuses whatever still comes, and throws away what waits.

        Args:
            reason: What those are told that wait for results.
            ahead: Rows that were drawn, but not read.
            has_failed: Whether the function has failed, so that it may not be through with the last epoch that it read.
        """
        with self._changed:
            if not self._stopped and not has_failed:
                self._epochs.stop(() if ahead else self._pieces)
            self._stopped = True
            self._pieces.clear()
            self._turn_away(reason)
            self._bytes = self._waiting = 0
            self._changed.notify_all()

    def unread(self, ahead: int = 0) -> Unread | None:
        """Returns what a function that returns now, with rows drawn and not read, leaves behind; None if it has read all.

        In the middle of an epoch this waits for its end, or for its next row, which come soon.
        """
        with self._changed:
            self._changed.wait_for(lambda: not self._is_within_epoch() or ahead or self._unread_rows())
            waiting = ahead + self._unread_rows()
            if self._stopped or (self._was_asked and not waiting and not self._epochs.left):
                return None
            marks = sum(isinstance(piece, EpochEnd) for piece in self._pieces)
            return Unread(
                was_asked=self._was_asked,
                consumed=self._received - self._waiting - ahead,
                waiting=waiting,
                epochs_left=self._epochs.left + marks,
            )

    @property
    def first_epoch(self) -> int:
        """The number of the first epoch that comes to this node, which is waited for.

        Raises:
            NotFed: Nothing was fed for too long.
        """
        with self._changed:
            if not self._changed.wait_for(self._is_told, TOLD_SECONDS):
                raise NotFed("feed.first_epoch", NOTHING_FED)
            return self._epochs.first_epoch or 0

    @property
    def handed_out(self) -> int:
        """How many rows that want results have been taken, and have none yet."""
        with self._changed:
            return self._requests.handed_out

    @property
    def epoch(self) -> tuple[int, bool]:
        """How many rows of the epoch under way wait to be drawn, and whether it will get no more."""
        with self._changed:
            waiting, is_whole = rows_until_end(self._pieces)
            return waiting, is_whole or self._stopped or self._ended

    @property
    def is_last_epoch(self) -> bool:
        """Whether no epoch of the feed comes after the one under way, as far as is known."""
        with self._changed:
            return self._epochs.left <= 1 and not any(isinstance(piece, EpochEnd) for piece in self._pieces)

    @property
    def is_ended(self) -> bool:
        """Whether nothing more will come; there may be something left to draw."""
        with self._changed:
            return self._stopped or self._ended

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to draw, and nothing will come."""
        with self._changed:
            return self._stopped or (self._ended and not self._pieces and not self._requests)

    @property
    def level(self) -> Level:
        """How it is doing right now."""
        with self._changed:
            return Level(
                received=self._received,
                consumed=self._received - self._waiting,
                waiting=self._waiting,
                blocked=self._blocked,
                is_stopped=self._stopped,
                asking=self._requests.asking,
                refused=self._requests.refused,
                read=self._epochs.read,
                left_out=self._epochs.left_out,
            )

    def _is_within_epoch(self) -> bool:
        """Tells whether rows have come since the last mark, and it is not known that no more will."""
        return bool(self._epochs.rows) and not self._stopped and not self._ended

    def _is_told(self) -> bool:
        return self._epochs.first_epoch is not None or bool(self._requests) or self._ended or self._stopped

    def _unread_rows(self) -> int:
        return sum(piece.rows for piece in self._pieces if isinstance(piece, Piece))

    def _mark(self, mark: EpochEnd | None) -> None:
        if mark is not None:
            self._pieces.append(mark)
        self._changed.notify_all()

    def _wait_for_more(self, is_alone: Callable[[], bool]) -> None:
        missing = self._requests.missing
        if missing and is_alone():
            raise ResultsMissing("asked for more rows", missing)
        self._changed.wait(POLL_SECONDS if missing else None)  # a thread that was to give them may have ended

    def _turn_away(self, reason: str = ENDED) -> None:
        self._requests.turn_away()
        for request in self._requests:
            self._drop(request, reason)

    def _drop(self, request: InferenceRequest, reason: str = ENDED) -> None:
        self._requests.remove(request)
        rows = request.rows
        self._release(request.give_up(reason), rows)

    def _release(self, size: int, rows: int) -> None:
        self._bytes -= size
        self._waiting -= rows
        self._changed.notify_all()

    def _wait_for_room(self, size: int, is_pointless: Callable[[], bool]) -> None:
        if self._has_room(size) or is_pointless():
            return
        self._blocked += 1
        self._changed.notify_all()  # a request that waits for more rows would wait in vain
        try:
            while not self._has_room(size) and not is_pointless():
                self._changed.wait()
        finally:
            self._blocked -= 1

    def _has_room(self, size: int) -> bool:
        return self._stopped or not self._bytes or self._bytes + size <= self._limit

    def _add(self, piece: Piece, size: int) -> Taken:
        self._pieces.append(piece)
        self._bytes += size
        self._epochs.rows += piece.rows
        self._received += piece.rows
        self._waiting += piece.rows
        self._changed.notify_all()
        return Taken.KEPT
