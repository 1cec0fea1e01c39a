"""Data that can be fed, and the Spark jobs that feed it."""

from __future__ import annotations

import threading
import time
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from hopyard.errors import BadArguments, FeedJobFailed
from hopyard.feed.task.functions import (
    REPORT_SCHEMA,
    FeedFrame,
    FeedRows,
    InferFrame,
    InferRows,
    parse_report,
)
from hopyard.feed.task.inference import InferencePlan
from hopyard.feed.task.kept_columns import ResultColumns
from hopyard.feed.task.partition_sender import FeedPlan, PartitionReport
from hopyard.spark.arrays import in_small_batches, with_raw_arrays
from hopyard.spark.failure import known_cause, summary
from hopyard.spark.job import has_active_job
from hopyard.spark.scheduler import SchedulerWatch
from hopyard.spark.session.supported import refuse_connect, require_pyspark

if TYPE_CHECKING:
    from pyspark import RDD, SparkContext
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

CANCEL_SECONDS = 30.0
CANCEL_AGAIN_SECONDS = 0.5
LONGEST_TRACE = 4000
SCHEMA_EXAMPLE = 'inference(frame, schema="prediction float")'


class Source(Protocol):
    """Rows in partitions that Spark can compute."""

    @property
    def is_pickled(self) -> bool:
        """Whether the rows travel pickled, and not as columns."""

    @property
    def context(self) -> SparkContext:
        """The Spark application that computes them."""

    def feed(self, plan: FeedPlan) -> list[PartitionReport]:
        """Feeds all partitions, in one Spark job."""

    def ask(self, plan: InferencePlan, schema: str | StructType | None, keep: object) -> DataFrame | RDD[Any]:
        """Returns the results, which are computed when they are used, after the columns of their rows to keep."""


@dataclass(frozen=True, slots=True)
class FrameSource:
    """The rows of a DataFrame."""

    frame: DataFrame
    is_pickled: ClassVar[bool] = False

    @property
    def context(self) -> SparkContext:
        """The Spark application that computes them."""
        return self.frame.sparkSession.sparkContext

    def feed(self, plan: FeedPlan) -> list[PartitionReport]:
        """Feeds all partitions, in one Spark job."""
        frame, form = with_raw_arrays(in_small_batches(self.frame, plan.piece_bytes))
        reports = frame.mapInArrow(FeedFrame(plan=plan, form=form), REPORT_SCHEMA)
        return [parse_report(row.report) for row in reports.collect()]

    def ask(self, plan: InferencePlan, schema: str | StructType | None, keep: object) -> DataFrame:
        """Returns the results, which are computed when they are used, after the columns of their rows to keep.

        Raises:
            BadArguments: There is no schema, or a column to keep is not there.
        """
        if schema is None:
            reason = f"the results for a DataFrame need a schema; give one as in {SCHEMA_EXAMPLE}"
            raise BadArguments("inference", reason)
        from pyspark.errors import PySparkException
        from pyspark.sql.pandas.types import to_arrow_schema
        from pyspark.sql.types import StructType

        try:
            columns: Any = schema if isinstance(schema, StructType) else StructType.fromDDL(schema)
        except (PySparkException, TypeError) as error:
            why = str(error).strip().splitlines()[0].rstrip(".")
            reason = f"schema={schema!r} cannot be read ({why}); write it as in {SCHEMA_EXAMPLE}"
            raise BadArguments("inference", reason) from error
        kept = ResultColumns.of(self.frame, columns, keep)
        frame, form = with_raw_arrays(self.frame)
        arrow = to_arrow_schema(columns)
        return frame.mapInArrow(InferFrame(plan=plan, form=form, schema=arrow, kept=kept.places), kept.schema)


@dataclass(frozen=True, slots=True)
class RowsSource:
    """The objects of an RDD."""

    rows: RDD[object]
    is_pickled: ClassVar[bool] = True

    @property
    def context(self) -> SparkContext:
        """The Spark application that computes them."""
        return self.rows.context

    def feed(self, plan: FeedPlan) -> list[PartitionReport]:
        """Feeds all partitions, in one Spark job."""
        return [parse_report(text) for text in self.rows.mapPartitions(FeedRows(plan=plan)).collect()]

    def ask(self, plan: InferencePlan, schema: str | StructType | None, keep: object) -> RDD[Any]:
        """Returns the results, which are computed when they are used.

        Raises:
            BadArguments: There is a schema, or columns to keep, which an RDD has no use for.
        """
        if keep:
            raise BadArguments(
                "inference",
                f"keep={keep!r}: an RDD has no columns; give a DataFrame, or let the function return them",
            )
        if schema is not None:
            raise BadArguments("inference", "the results for an RDD are objects, without a schema")
        return self.rows.mapPartitions(InferRows(plan=plan))


def source_of(call: str, data: object) -> Source:
    """Returns the source for what a user wants to feed.

    Args:
        call: What the user called: train or inference.
        data: What was given.

    Raises:
        BadArguments: It is nothing that can be fed.
        SparkUnusable: It belongs to Spark Connect.
    """
    check_feedable(call, data)
    from pyspark.sql import DataFrame

    if isinstance(data, DataFrame):
        return FrameSource(data)
    rows: Any = data
    return RowsSource(rows)


def check_feedable(call: str, data: object) -> None:
    """Refuses what cannot be fed.

    Raises:
        MissingDependency: pyspark is not installed.
        BadArguments: It is not data of Spark.
        SparkUnusable: It belongs to Spark Connect, or pyspark is too old.
    """
    require_pyspark(f"{call}()")
    refuse_connect(data)
    from pyspark import RDD
    from pyspark.sql import DataFrame
    from pyspark.streaming import DStream

    if not isinstance(data, (DataFrame, RDD) if call == "inference" else (DataFrame, RDD, DStream)):
        kind = type(data).__qualname__
        package = type(data).__module__.partition(".")[0]
        name = kind if package == "builtins" else f"{package}.{kind}"
        raise BadArguments(
            call, f"{name} is not a DataFrame or RDD of Spark; give {_as_spark_data(package, kind)}"
        )


def _as_spark_data(package: str, kind: str) -> str:
    """Returns what a user gives instead of data that is not Spark's."""
    if kind == "str":
        return "a DataFrame, such as spark.read.parquet(path)"
    if kind in ("list", "tuple", "range", "generator"):
        return "spark.createDataFrame(rows), or spark.sparkContext.parallelize(rows)"
    if package in ("pandas", "numpy", "pyarrow"):
        return "spark.createDataFrame(data)"
    if package == "polars":
        return "spark.createDataFrame(data.to_arrow())"
    if package == "pyspark" and kind == "DataFrame":  # pandas on Spark
        return "data.to_spark()"
    return "a DataFrame or an RDD of Spark"


class FeedJob:
    """A Spark job that feeds, in a thread of its own; start it once.

    Args:
        source: The rows.
        plan: Whom to feed, and what.
        description: What Spark's pages call it.
        timeout: Seconds for which Spark's scheduler may hang.
    """

    def __init__(self, source: Source, plan: FeedPlan, *, description: str, timeout: float) -> None:
        from pyspark import InheritableThread

        self._scheduler = SchedulerWatch(source.context, timeout)
        self._description = description
        self._source = source
        self._plan = plan
        self._group = f"hopyard-feed-{uuid.uuid4().hex}"
        self._ended = threading.Event()
        self._reports: list[PartitionReport] = []
        self._error: FeedJobFailed | None = None
        self._thread: threading.Thread = InheritableThread(target=self._run, session=None)
        self._thread.daemon = True

    def start(self) -> None:
        """Begins to feed."""
        self._thread.start()

    def wait(self, seconds: float) -> bool:
        """Tells whether the job has ended within some seconds.

        Raises:
            SchedulerHangs: It will never end.
        """
        if self._ended.wait(seconds):
            return True
        self._scheduler.look()
        return False

    def cancel(self) -> None:
        """Ends the job and returns when it has ended, also if Spark has not got it yet.

        Raises:
            FeedJobFailed: Spark did not end it in time.
        """
        context, deadline = self._source.context, time.monotonic() + CANCEL_SECONDS
        while not self._ended.is_set() and time.monotonic() < deadline:
            if has_active_job(context, self._group):
                context.cancelJobGroup(self._group)
            self._ended.wait(CANCEL_AGAIN_SECONDS)
        if not self._ended.is_set():
            raise FeedJobFailed(f"its job did not end within {CANCEL_SECONDS:.0f} s of being cancelled")

    def reports(self) -> list[PartitionReport]:
        """Returns what became of the partitions.

        Raises:
            FeedJobFailed: The job failed.
        """
        if self._error is not None:
            raise self._error
        return self._reports

    def _run(self) -> None:
        try:
            self._source.context.setJobGroup(self._group, self._description, interruptOnCancel=False)
            self._reports = self._source.feed(self._plan)
        except Exception as error:  # noqa: BLE001  handed to the thread that waits
            known = known_cause(error, self._source.context)
            self._error = FeedJobFailed(known or _cause(error))
            if known is None:
                self._error.__cause__ = error
        finally:
            self._ended.set()


def _cause(error: Exception) -> str:
    """Returns what a Spark error says: for one of Python its last line, and then how it came to that."""
    text = str(error).split("\nDriver stacktrace:")[0].strip()
    if "Traceback (most recent call last)" not in text:
        return summary(error)
    return f"{text.splitlines()[-1]}\n{text[-LONGEST_TRACE:]}"
