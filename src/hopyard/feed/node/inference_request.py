"""A partition whose rows want results: questions in one order, answers in the same."""

from __future__ import annotations

import threading
import time
from collections import deque

import pyarrow as pa

from hopyard.errors import FeedStalled, NotFed
from hopyard.feed.node.rows import Rest, Rows, joined
from hopyard.feed.pieces import Piece, is_pickled, unpack

MOST_ANSWER_BYTES = 16 << 20
ENDED = "the function on the node has ended its feed without all results"


class InferenceRequest:
    """The rows of one partition that wait for results, and the results that wait to be sent.

    Its owner, the inbox, calls it with the lock held that `changed` belongs to, except for `answers`.

    Args:
        name: What it is called in errors.
        changed: Tells those who wait that something has changed.
        stage: The Spark stage that the partition belongs to; None if that is not known.
    """

    def __init__(self, name: str, changed: threading.Condition, stage: int | None = None) -> None:
        self.name = name
        self.stage = stage
        self.rows = 0
        self.is_complete = False
        self.is_dead = False
        self._changed = changed
        self._end_reason = ENDED
        self._waiting: deque[tuple[Rest, int]] = deque()
        self._unanswered = 0
        self._answers: deque[pa.RecordBatch] = deque()
        self._answer_bytes = 0

    @property
    def handed_out(self) -> int:
        """How many rows the function has taken that have no results yet."""
        return self._unanswered - self.rows

    @property
    def is_read(self) -> bool:
        """Whether the function has taken all rows, and no more will come."""
        return self.is_complete and not self.rows

    @property
    def is_sated(self) -> bool:
        """Whether so many answers wait to be sent that no more questions are wanted."""
        return self._answer_bytes > MOST_ANSWER_BYTES

    def add(self, piece: Piece) -> None:
        """Takes a piece."""
        rows = unpack(piece.batch) if is_pickled(piece.batch.schema) else piece.batch
        self._waiting.append((Rest(rows), piece.batch.nbytes))
        self.rows += piece.rows
        self._unanswered += piece.rows

    def take(self, most: int) -> tuple[Rows, int]:
        """Returns the next rows, at most so many, and the size of the pieces that were used up."""
        parts: list[Rows] = []
        size = 0
        while self._waiting and most:
            rest, piece_bytes = self._waiting[0]
            parts.append(rest.take(most))
            most -= len(parts[-1])
            if not rest:
                self._waiting.popleft()
                size += piece_bytes
        taken = joined(parts)
        self.rows -= len(taken)
        return taken, size

    def answer(self, results: pa.RecordBatch, rows: int) -> None:
        """Takes the results for the next rows."""
        self._unanswered -= rows
        self._answers.append(results)
        self._answer_bytes += results.nbytes

    def give_up(self, reason: str = ENDED) -> int:
        """Records that there will be no more answers, and why; returns the size of what was waiting."""
        self.is_dead = True
        self._end_reason = reason
        size = sum(piece_bytes for _, piece_bytes in self._waiting)
        self._waiting.clear()
        self.rows = 0
        return size

    def next_answer(self, seconds: float) -> pa.RecordBatch | None:
        """Waits for results, without the lock; None when all have been returned.

        Raises:
            FeedStalled: There were none for so many seconds.
            NotFed: The node wants no more questions.
        """
        deadline = time.monotonic() + seconds
        with self._changed:
            while not self._answers:
                if self.is_dead:
                    raise NotFed(f"inference on {self.name}", self._end_reason)
                if self.is_complete and not self._unanswered:
                    return None
                left = deadline - time.monotonic()
                if left <= 0:
                    waiting = f"{self._unanswered} rows of {self.name} wait for results (feed.batch_results)"
                    raise FeedStalled(seconds, (waiting,))
                self._changed.wait(left)
            results = self._answers.popleft()
            self._answer_bytes -= results.nbytes
            self._changed.notify_all()
            return results
