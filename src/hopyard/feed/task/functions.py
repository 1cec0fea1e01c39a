"""What Spark's tasks execute to feed the nodes: picklable callables, no pyspark until they run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa

from hopyard.feed.pieces import Order, Piece, cut_batches, cut_rows
from hopyard.feed.ranges import Ranges
from hopyard.feed.results import decode, to_schema
from hopyard.feed.signed_rows import signed_pieces
from hopyard.feed.task.inference import InferencePlan, ask
from hopyard.feed.task.kept_columns import KeptColumns
from hopyard.feed.task.partition_sender import BY_RANK, FeedPlan, PartitionReport, feed_partition
from hopyard.feed.task.worker_process import prepare_process, process_buffers
from hopyard.spark.raw_arrays import FrameForm

REPORT_SCHEMA = "report string"


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedFrame:
    """Feeds a partition of a DataFrame; for ``mapInArrow``."""

    plan: FeedPlan
    form: FrameForm

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yields one batch with the report."""
        report = _feed(self.plan, self.form.restored(batches), are_objects=False)
        yield pa.record_batch({"report": [report]})


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedRows:
    """Feeds a partition of an RDD; for ``mapPartitions``."""

    plan: FeedPlan

    def __call__(self, rows: Iterable[object]) -> Iterator[str]:
        """Yields the report."""
        yield _feed(self.plan, rows, are_objects=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class InferFrame:
    """Gets results for a partition of a DataFrame; for ``mapInArrow``."""

    plan: InferencePlan
    form: FrameForm
    schema: pa.Schema
    kept: tuple[int, ...] = ()

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yields the results in the columns of the schema, after those of their rows that are kept, by place."""
        kept = KeptColumns(self.kept)
        rows = self.form.restored(batches)
        pieces = cut_batches(kept.watched(rows) if self.kept else rows, piece_bytes=self.plan.piece_bytes)
        fit = partial(to_schema, schema=self.schema)
        for results in ask(self.plan, _task()[0], pieces, stage=_stage(), buffers=process_buffers(), fit=fit):
            yield kept.beside(results) if self.kept else results


@dataclass(frozen=True, slots=True, kw_only=True)
class InferRows:
    """Gets results for a partition of an RDD; for ``mapPartitions``."""

    plan: InferencePlan

    def __call__(self, rows: Iterable[object]) -> Iterator[object]:
        """Yields the results."""
        pieces = cut_rows(rows, piece_bytes=self.plan.piece_bytes)
        for results in ask(
            self.plan, _task()[0], pieces, stage=_stage(), buffers=process_buffers(), fit=decode
        ):
            yield from results


def parse_report(text: str) -> PartitionReport:
    """Returns a report that a task made."""
    fields = json.loads(text)
    for name in BY_RANK:
        fields[name] = {int(rank): rows for rank, rows in fields[name].items()}
    return PartitionReport(**fields)


@dataclass(frozen=True, slots=True)
class _Cut:
    """Cuts the rows of the current task into pieces, without those that nodes have."""

    plan: FeedPlan
    partition: int
    rows: Iterable[Any]
    are_objects: bool

    def __call__(self, without: Ranges) -> Iterator[Piece]:
        plan = self.plan
        order = (
            None if plan.seed is None else Order(seed=plan.seed, epoch=plan.epoch, partition=self.partition)
        )
        cut = cut_rows if self.are_objects else cut_batches
        pieces = cut(
            self.rows, without=without, order=order, piece_bytes=plan.piece_bytes, nodes=len(plan.nodes)
        )
        return signed_pieces(plan.signer, pieces)


def _feed(plan: FeedPlan, rows: Iterable[Any], *, are_objects: bool) -> str:
    partition, attempt = _task()
    cut = _Cut(plan, partition, rows, are_objects)
    report = feed_partition(plan, partition, attempt, cut, buffers=process_buffers())
    return report.to_text()


def _task() -> tuple[int, int]:
    """Returns the partition of the current Spark task, and a number that grows with every attempt."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    prepare_process()
    return context.partitionId(), context.taskAttemptId()


def _stage() -> int:
    """Returns the stage that the current Spark task belongs to."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    return context.stageId()
