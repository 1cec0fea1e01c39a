"""What a training function reads: batches of rows, drawn from the node's inbox."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from hopyard.errors import BadArguments, NoMoreEpochs, ResultsNotWanted, WrongResults
from hopyard.feed.lockstep.hub import Answer, Uneven
from hopyard.feed.lockstep.member import LockstepMember
from hopyard.feed.node.inbox import Inbox
from hopyard.feed.node.inference_request import InferenceRequest
from hopyard.feed.node.level import EpochEnd
from hopyard.feed.node.nan_tally import NanTally
from hopyard.feed.node.only_thread import is_only_thread
from hopyard.feed.node.reading import EpochStart, ReadingProgress
from hopyard.feed.node.rows import NO_ROWS, Rest, Rows, joined, padded
from hopyard.feed.pieces import Piece, is_pickled, unpack
from hopyard.feed.results import encode

LOG = logging.getLogger(__name__)


class RowFeed:
    """The rows that Spark feeds to this node; one thread reads, and any may end the feed.

    Rows of a DataFrame come as `pyarrow.RecordBatch`, those of an RDD as a list of the objects in it.

    Args:
        inbox: Where they wait.
        in_step: For nodes that train in step.
        is_alone: Tells whether no other thread of this process could return results (`ResultsMissing`).
    """

    def __init__(
        self,
        inbox: Inbox,
        in_step: LockstepMember | None = None,
        *,
        is_alone: Callable[[], bool] = is_only_thread,
    ) -> None:
        self.noted: Exception | None = None
        self.nans = NanTally()
        self._inbox = inbox
        self._is_alone = is_alone
        self._in_step = in_step
        self._last: Rows = NO_ROWS
        self._ahead: deque[Rest | EpochEnd] = deque()
        self._asked: deque[Question] = deque()
        self._asked_again: deque[Rows] = deque()
        self._lock = threading.Lock()
        self._is_asked = False
        self._batches = 0
        self._reading = ReadingProgress()
        self._start = EpochStart()

    def next_batch(self, rows: int) -> Rows:
        """Returns the next rows of all epochs, fewer than asked for only at the end of the feed, and none after it.

        A batch to learn from goes across the borders of partitions and epochs, but not from the rows of a DataFrame to
        those of an RDD, or to those of a DataFrame with other columns. A batch that wants results (`batch_results`)
        is of one partition, and may be shorter at the end of it.

        Raises:
            ResultsMissing: No more rows come, since Spark waits for results of rows that were read.
        """
        _check_rows("next_batch", rows)
        self._start.forget()
        batch = self._gather(rows, across_epochs=True)
        if self._in_step is None or self._is_asked:
            return batch
        return self._agreed(self._in_step, batch, rows)

    def epoch_batch(self, rows: int) -> Rows:
        """Returns the next rows of the epoch under way: fewer at its end, and none after it, until `end_epoch`."""
        if self._in_step is not None:
            self._in_step = self._in_step.in_epoch(self._reading.epochs)
        batch = gathered = self._gather(rows, across_epochs=False)
        if self._in_step is not None and not self._is_asked:
            batch = self._agreed(self._in_step, gathered, rows)
        if len(batch):
            self._reading.go_on(len(batch))
        if len(gathered) and not self._is_asked:
            self._start.keep(gathered, rows)
        return batch

    def end_epoch(self, rows: int) -> None:
        """Passes the end of the epoch under way, of which all was read.

        Args:
            rows: How many rows a batch had.

        Raises:
            NoMoreEpochs: All epochs that were fed have been read, and nothing more will come.
        """
        read = self._reading.given
        passed = self._pass_epoch()
        if passed is not None:
            self._tell_left_out(passed, read, rows)
        elif self._reading.is_over() and not self._inbox.level.is_stopped:
            raise NoMoreEpochs(self._reading.epochs)

    def begin_again(self, rows: int) -> None:
        """Goes back to the first row of the epoch under way; of rows that want results, to the first without any.

        Args:
            rows: How many rows a batch will have.

        Raises:
            EpochLeft: Too much of it has been read.
            BadArguments: The nodes train in step, and it was begun with batches of another size.
        """
        self._asked_again = deque(question.batch for question in self._asked)
        if not self._reading.is_under_way:
            return
        batches, batch_size = self._start.take_back(self._reading.epochs + 1, self._reading.given)
        if self._in_step is not None and batches:
            if batch_size != rows:
                raise BadArguments(
                    "feed",
                    f"nodes in step have begun this epoch with batches of {batch_size} rows, and now want {rows}",
                )
            self._in_step.begin_again()
            self._last = NO_ROWS
        self._put_back(*map(Rest, batches))
        self._reading.begin_again()

    def await_epoch(self) -> bool:
        """Waits for the next epoch; returns whether there is one."""
        found = self._draw(1, may_ask=False)
        if found is None:
            return False
        self._put_back(found)
        return True

    def skip_epoch(self) -> bool:
        """Passes what is left of the epoch under way; returns whether its end was found, and not that of the feed."""
        return self._pass_epoch() is not None

    @property
    def epochs_read(self) -> int:
        """How many epochs have been read to their end."""
        return self._reading.epochs

    @property
    def has_enough(self) -> bool:
        """Whether as many rows of the epoch under way were read as of the one before."""
        return self._reading.has_enough

    @property
    def has_passed_all(self) -> bool:
        """Whether rows came, and no one has asked for any: only for epochs, one after the other."""
        level = self._inbox.level
        return bool(level.received) and not level.is_stopped and not self._reading.was_read

    @property
    def first_epoch(self) -> int:
        """The number of the first epoch that came to this node: not 0 only where a run was started again."""
        return self._inbox.first_epoch

    @property
    def rows_per_epoch(self) -> int | None:
        """How many rows this node got in the epoch that ended last; None in the first one."""
        return self._reading.rows

    def steps_per_epoch(self, batch_size: int) -> int | None:
        """Returns how many batches these are; None in the first epoch."""
        _check_rows("steps_per_epoch", batch_size)
        rows = self._reading.rows
        return None if rows is None else -(-rows // batch_size)

    def __iter__(self) -> Iterator[Rows]:
        """Yields all rows of all epochs in batches as they come, without copying any."""
        self._reading.was_read = True
        while (found := self._draw(1)) is not None:
            if isinstance(found, EpochEnd):
                self._reading.end(found.rows)
            else:
                yield found.take(len(found))

    def batch_results(self, results: object) -> None:
        """Returns the results for the oldest batch of `Cluster.inference` that has none yet.

        Args:
            results: One for each row: a list, an array whose first axis are the rows, arrays by column, or a
                `pyarrow.RecordBatch`. Columns with names must have those of the schema.

        Raises:
            ResultsNotWanted: The rows are those of `Cluster.train`.
            WrongResults: There are more or fewer results than rows, or no batch waits for any.
            BadArguments: It is nothing that holds results.
        """
        batch, count = encode(results)
        if not self._batches and self._inbox.level.received:
            raise ResultsNotWanted(count)
        if not self._asked:
            raise WrongResults("no batch", 0, count)
        if len(self._asked_again) == len(self._asked):
            self._asked_again.popleft()
        question = self._asked.popleft()
        if count != question.rows:
            raise WrongResults(str(question), question.rows, count)
        self._inbox.answer(question.request, batch, count)

    def should_stop(self) -> bool:
        """Whether all rows have been read and no more will come."""
        return not self.rows_ahead and self._inbox.is_done

    @property
    def rows_ahead(self) -> int:
        """How many rows were drawn that have not been read."""
        with self._lock:
            return sum(len(found) for found in self._ahead if isinstance(found, Rest))

    def terminate(self) -> None:
        """Ends the feed of this node: what still comes is refused, so that Spark need not compute it."""
        self._stop()
        if self._in_step is not None:
            self._in_step.leave()

    def finish(self) -> None:
        """Lets nodes that train in step with this one go on without it, as its function has returned."""
        if self._in_step is not None:
            self._in_step.finish()

    def note_nans(self, nulls: Mapping[str, int]) -> None:
        """Records nulls that were read as NaN, by column."""
        self.nans.add(nulls)

    def note_error(self, error: Exception) -> None:
        """Records an error in reading, of which a framework makes one of its own."""
        self.noted = error

    def note_joined(self, *, is_joined: bool) -> None:
        """Records whether something joins the nodes to train one model, as a framework begins to read."""
        self._reading.is_joined = is_joined or bool(self._reading.is_joined)

    @property
    def learns_alone(self) -> bool:
        """Whether a framework has read epochs to learn from, and nothing was seen that joins this node to others."""
        has_learnt = self._reading.epochs > 0 and not self._batches
        return has_learnt and self._reading.is_joined is False and self._in_step is None

    def _gather(self, rows: int, *, across_epochs: bool) -> Rows:
        self._reading.was_read = True
        self._is_asked = bool(self._asked_again)
        if self._asked_again:
            return self._asked_again.popleft()
        parts: list[Rows] = []
        missing = rows
        while (
            missing and (found := self._draw(missing, may_ask=not parts, in_hand=rows - missing)) is not None
        ):
            if isinstance(found, EpochEnd):
                if across_epochs:
                    self._reading.end(found.rows)
                    continue
                self._put_back(found)
                break
            if parts and not found.is_like(parts[-1]):
                self._put_back(found)
                break
            parts.append(found.take(missing))
            missing -= len(parts[-1])
            if self._is_asked:
                break
            if found:
                self._put_back(found)
        return joined(parts)

    def _agreed(self, in_step: LockstepMember, batch: Rows, rows: int) -> Rows:
        """Returns a batch if all nodes have one, made whole if need be; none if they are to end."""
        while not in_step.is_known():
            if self._inbox.level.is_stopped:
                return NO_ROWS  # the others are told by who stopped it
            waiting, final = self._outlook(in_step)
            waiting += len(batch)
            pads = in_step.policy is Uneven.PAD and final
            have = in_step.used + (-(-waiting // rows) if pads else waiting // rows)
            verdict = in_step.ask(have, final=final, rows=in_step.used * rows + waiting)
            if verdict.answer is Answer.END:
                is_last = in_step.epoch is None or self._inbox.is_last_epoch
                if verdict.has_left or in_step.epoch is None or (verdict.cancel_rest and is_last):
                    self._stop()
                return NO_ROWS
        in_step.used += 1
        if len(batch) < rows:
            batch = padded(batch, self._last if len(self._last) else batch, rows)
        self._last = batch
        return batch

    def _pass_epoch(self) -> EpochEnd | None:
        self._start.forget()
        while (found := self._draw(1, may_ask=False)) is not None:
            if isinstance(found, EpochEnd):
                self._reading.end(found.rows)
                return found
        return None

    def _tell_left_out(self, passed: EpochEnd, read: int, rows: int) -> None:
        """Logs and counts how many rows of the epoch that has ended were left out: another node, or the epoch before, had fewer batches."""
        came = passed.rows
        left_out = came - read
        if left_out <= 0:
            return
        self._inbox.leave_out(passed.number, left_out)
        epoch = self.first_epoch + self._reading.epochs - 1
        if self._in_step is None:
            why, advice = "since the loop ended after as many rows as the epoch before had", ""
        else:
            why = f"to keep step with the others (uneven={self._in_step.policy.value!r})"
            advice = "; spread the rows over more partitions (df.repartition)" if left_out >= 2 * rows else ""
        LOG.warning(
            "epoch %d: %d of the %d rows of this node were left out %s%s", epoch, left_out, came, why, advice
        )

    def _outlook(self, in_step: LockstepMember) -> tuple[int, bool]:
        """Returns how many more rows are here already, and whether no others will come: of the epoch, or of the feed."""
        ahead = self.rows_ahead
        if in_step.epoch is None:
            return ahead + self._inbox.level.waiting, self._inbox.is_ended
        if any(isinstance(found, EpochEnd) for found in self._ahead):
            return ahead, True
        waiting, final = self._inbox.epoch
        return ahead + waiting, final

    def _put_back(self, *found: Rest | EpochEnd) -> None:
        with self._lock:
            if not self._inbox.level.is_stopped:
                self._ahead.extendleft(reversed(found))

    def _stop(self) -> None:
        # first, so that a reader in another thread puts nothing back
        self._inbox.stop(ahead=self.rows_ahead)
        with self._lock:
            self._ahead.clear()

    def _draw(self, rows: int, *, may_ask: bool = True, in_hand: int = 0) -> Rest | EpochEnd | None:
        """Returns rows to learn from, or to find results for, or the end of an epoch; None at the end of the feed.

        Args:
            rows: How many are wanted.
            may_ask: Whether they may be rows that want results, which make a batch of their own.
            in_hand: How many rows of the same batch were drawn before.
        """
        self._is_asked = False
        with self._lock:
            is_within = any(isinstance(found, EpochEnd) for found in self._ahead)
            ahead = self._ahead.popleft() if self._ahead else None
        if not in_hand and not is_within:
            self._inbox.go_on()
        if ahead is not None:
            return ahead
        found = self._inbox.draw(rows, is_alone=self._is_alone)
        if isinstance(found, EpochEnd):
            return found
        if isinstance(found, Piece):
            return Rest(unpack(found.batch) if is_pickled(found.batch.schema) else found.batch)
        if found is None or not may_ask:
            return None
        taken = self._inbox.take(found, rows)
        self._batches += 1
        self._asked.append(Question(request=found, batch=taken, number=self._batches))
        self._is_asked = True
        return Rest(taken)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A batch that waits for results."""

    request: InferenceRequest
    batch: Rows
    number: int

    @property
    def rows(self) -> int:
        """How many results it wants."""
        return len(self.batch)

    def __str__(self) -> str:
        return f"batch {self.number} ({self.request.name})"


def _check_rows(asked_by: str, rows: int) -> None:
    if type(rows) is not int or rows < 1:
        raise BadArguments(
            asked_by, f"a batch of {rows!r} rows is not possible; give a whole number of at least 1"
        )
