"""What Spark's tasks execute to feed the nodes: picklable callables, no pyspark until they run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from hopyard.feed.asker import AskPlan, ask
from hopyard.feed.feeder import FeedPlan, PartitionReport, feed_partition
from hopyard.feed.pieces import Piece, cut_batches, cut_rows
from hopyard.feed.ranges import Ranges
from hopyard.feed.results import decode, to_schema

REPORT_SCHEMA = "report string"


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedFrame:
    """Feeds a partition of a DataFrame; for ``mapInArrow``."""

    plan: FeedPlan

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yields one batch with the report."""
        report = feed_partition(self.plan, *_task(), _FrameCut(batches, self.plan.piece_bytes))
        yield pa.record_batch({"report": [json.dumps(report.to_json())]})


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedRows:
    """Feeds a partition of an RDD; for ``mapPartitions``."""

    plan: FeedPlan

    def __call__(self, rows: Iterable[object]) -> Iterator[str]:
        """Yields the report."""
        report = feed_partition(self.plan, *_task(), _RowsCut(rows, self.plan.piece_bytes))
        yield json.dumps(report.to_json())


@dataclass(frozen=True, slots=True, kw_only=True)
class AskFrame:
    """Gets results for a partition of a DataFrame; for ``mapInArrow``."""

    plan: AskPlan
    schema: pa.Schema

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yields the results in the columns of the schema."""
        pieces = cut_batches(batches, piece_bytes=self.plan.piece_bytes)
        for results in ask(self.plan, _task()[0], pieces):
            yield to_schema(results, self.schema)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskRows:
    """Gets results for a partition of an RDD; for ``mapPartitions``."""

    plan: AskPlan

    def __call__(self, rows: Iterable[object]) -> Iterator[object]:
        """Yields the results."""
        for results in ask(self.plan, _task()[0], cut_rows(rows, piece_bytes=self.plan.piece_bytes)):
            yield from decode(results)


def parse_report(text: str) -> PartitionReport:
    """Returns a report that a task made."""
    fields = json.loads(text)
    sent = {int(rank): rows for rank, rows in fields.pop("sent").items()}
    return PartitionReport(sent=sent, **fields)


@dataclass(frozen=True, slots=True)
class _FrameCut:
    batches: Iterable[pa.RecordBatch]
    piece_bytes: int

    def __call__(self, without: Ranges) -> Iterable[Piece]:
        return cut_batches(self.batches, without=without, piece_bytes=self.piece_bytes)


@dataclass(frozen=True, slots=True)
class _RowsCut:
    rows: Iterable[object]
    piece_bytes: int

    def __call__(self, without: Ranges) -> Iterable[Piece]:
        return cut_rows(self.rows, without=without, piece_bytes=self.piece_bytes)


def _task() -> tuple[int, int]:
    """Returns the partition of the current Spark task, and a number that grows with every attempt."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    return context.partitionId(), context.taskAttemptId()
