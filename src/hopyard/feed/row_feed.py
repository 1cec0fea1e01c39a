"""What a training function reads: batches of rows, drawn from the node's inbox."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hopyard.errors import BadArguments, WrongResults
from hopyard.feed.in_step import InStep
from hopyard.feed.inbox import Inbox
from hopyard.feed.inquiry import Inquiry
from hopyard.feed.pieces import Piece, is_pickled, unpack
from hopyard.feed.results import encode
from hopyard.feed.rows import NO_ROWS, Rest, Rows, joined, padded
from hopyard.feed.together import Answer, Uneven

if TYPE_CHECKING:
    import numpy as np


class RowFeed:
    """The rows that Spark feeds to this node; one thread reads, and any may end the feed.

    Rows of a DataFrame come as `pyarrow.RecordBatch`, those of an RDD as a list of the objects in it.
    """

    def __init__(self, inbox: Inbox, in_step: InStep | None = None) -> None:
        self._inbox = inbox
        self._in_step = in_step
        self._last: Rows = NO_ROWS
        self._ahead: deque[Rest] = deque(maxlen=1)
        self._asked: deque[Question] = deque()
        self._lock = threading.Lock()
        self._is_asked = False
        self._batches = 0

    def next_batch(self, rows: int) -> Rows:
        """Returns the next rows, fewer than asked for only at the end of the feed, and none after it.

        A batch to learn from goes across the borders of partitions and epochs, but not from the rows of a DataFrame to
        those of an RDD, or to those of a DataFrame with other columns. A batch that wants results (`batch_results`)
        is of one partition, and may be shorter at the end of it.
        """
        if rows < 1:
            raise BadArguments("next_batch", f"rows={rows} is less than 1")
        batch = self._gather(rows)
        if self._in_step is None or self._is_asked:
            return batch
        return self._agreed(self._in_step, batch, rows)

    def _gather(self, rows: int) -> Rows:
        parts: list[Rows] = []
        missing = rows
        while missing and (rest := self._draw(missing, may_ask=not parts)) is not None:
            if parts and not rest.is_like(parts[-1]):
                self._put_back(rest)
                break
            parts.append(rest.take(missing))
            missing -= len(parts[-1])
            if self._is_asked:
                break
            if rest:
                self._put_back(rest)
        return joined(parts)

    def __iter__(self) -> Iterator[Rows]:
        """Yields all rows in batches as they come, without copying any."""
        while (rest := self._draw(1)) is not None:
            yield rest.take(len(rest))

    def batch_results(self, results: object) -> None:
        """Returns the results for the oldest batch of `Cluster.inference` that has none yet.

        Args:
            results: One for each row: a list, an array whose first axis are the rows, arrays by column, or a
                `pyarrow.RecordBatch`.

        Raises:
            WrongResults: There are more or fewer results than rows, or no batch waits for any.
            BadArguments: It is nothing that holds results.
        """
        batch, count = encode(results)
        if not self._asked:
            raise WrongResults("no batch", 0, count)
        question = self._asked.popleft()
        if count != question.rows:
            raise WrongResults(str(question), question.rows, count)
        self._inbox.answer(question.inquiry, batch, count)

    def as_numpy(
        self,
        rows: int,
        *,
        columns: Sequence[str] | None = None,
        fill_nulls: Mapping[str, object] | None = None,
    ) -> Iterator[dict[str, np.ndarray]]:
        """Yields batches as arrays by column, the row as first axis; see `hopyard.feed.columns.to_numpy`.

        Raises:
            BadArguments: The rows are those of an RDD, which has no columns.
            NullValues: A column that has no form for it holds a null.
        """
        from hopyard.feed.columns import to_numpy  # the one place that needs numpy

        while len(batch := self.next_batch(rows)):
            if isinstance(batch, list):
                raise BadArguments(
                    "as_numpy", "the rows of an RDD have no columns; feed a DataFrame, or use next_batch()"
                )
            yield to_numpy(batch, columns=columns, fill_nulls=fill_nulls)

    def should_stop(self) -> bool:
        """Whether all rows have been read and no more will come."""
        return not self._ahead and self._inbox.is_done

    def terminate(self) -> None:
        """Ends the feed of this node: what still comes is refused, so that Spark need not compute it."""
        self._stop()
        if self._in_step is not None:
            self._in_step.leave()

    def _agreed(self, in_step: InStep, batch: Rows, rows: int) -> Rows:
        """Returns a batch if all nodes have one, made whole if need be; none if they are to end."""
        while not in_step.is_known():
            final = self._inbox.is_ended
            waiting = len(batch) + sum(map(len, self._ahead)) + self._inbox.level.waiting
            pads = in_step.policy is Uneven.PAD and final
            verdict = in_step.ask(
                in_step.used + (-(-waiting // rows) if pads else waiting // rows), final=final
            )
            if verdict.answer is Answer.END:
                self._stop()
                return NO_ROWS
        in_step.used += 1
        if len(batch) < rows:
            batch = padded(batch, self._last if len(self._last) else batch, rows)
        self._last = batch
        return batch

    def _put_back(self, rest: Rest) -> None:
        with self._lock:
            if not self._inbox.level.is_stopped:
                self._ahead.append(rest)

    def _stop(self) -> None:
        self._inbox.stop()  # first, so that a reader in another thread puts nothing back
        with self._lock:
            self._ahead.clear()

    def _draw(self, rows: int, *, may_ask: bool = True) -> Rest | None:
        """Returns rows to learn from, or to find results for; None at the end.

        Args:
            rows: How many are wanted.
            may_ask: Whether they may be rows that want results, which make a batch of their own.
        """
        self._is_asked = False
        with self._lock:
            if self._ahead:
                return self._ahead.pop()
        found = self._inbox.draw(rows)
        if isinstance(found, Piece):
            return Rest(unpack(found.batch) if is_pickled(found.batch.schema) else found.batch)
        if found is None or not may_ask:
            return None
        taken = self._inbox.take(found, rows)
        self._batches += 1
        self._asked.append(Question(inquiry=found, rows=len(taken), number=self._batches))
        self._is_asked = True
        return Rest(taken)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A batch that waits for results."""

    inquiry: Inquiry
    rows: int
    number: int

    def __str__(self) -> str:
        return f"batch {self.number} ({self.inquiry.name})"
