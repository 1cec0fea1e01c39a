"""Streams in the nodes of a run: streaming DataFrames with their checkpoints, and DStreams."""

from __future__ import annotations

import json
import shutil
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from hopyard import Cluster, NodeContext, Project
from hopyard.errors import BadArguments, FeedJobFailed, NodeFailed, StillStreaming, StreamFailed
from hopyard.testing.watching import WORD, say_the_word, wait_until
from hopyard.tracking import RunReader, RunState

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.streaming import DStream, StreamingContext

    from hopyard.feed.driver.streams.feed import StreamFeed

pytestmark = pytest.mark.spark

ROWS = 10
SECONDS = 60.0
SOON_SECONDS = 10.0
UNDER_WAY = "under-way"


def collect_ids(ctx: NodeContext) -> list[int]:
    """Returns the rows that came, in their order."""
    ids: list[int] = []
    feed = ctx.feed()
    while len(batch := feed.next_batch(4)):
        ids += batch if isinstance(batch, list) else batch.column("id").to_pylist()
    return ids


def fail_at_row_25(ctx: NodeContext) -> None:
    feed = ctx.feed()
    while len(batch := feed.next_batch(1)):
        if batch.column("id").to_pylist() == [25]:
            raise ArithmeticError("row 25 cannot be learnt")


def wait_for_the_word(ctx: NodeContext) -> None:
    wait_until(lambda: ctx.project.exists(WORD), "the test says the word", SECONDS)


def fail_when_told(ctx: NodeContext) -> None:
    ctx.feed().next_batch(ROWS)
    wait_for_the_word(ctx)
    raise ArithmeticError("it was told to fail")


def take_25(ctx: NodeContext) -> int:
    feed = ctx.feed()
    rows = len(feed.next_batch(25))
    feed.terminate()
    return rows


def take_10_and_wait(ctx: NodeContext) -> int:
    feed = ctx.feed()
    rows = len(feed.next_batch(ROWS))
    wait_for_the_word(ctx)
    feed.terminate()
    return rows


class EndlessRows:
    """Makes ever more rows of the first one."""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        next(batches)
        first = 0
        while True:
            yield pa.record_batch({"id": pa.array(range(first, first + ROWS), pa.int64())})
            first += ROWS


class HeldRows:
    """Lets rows through once a test has said the word."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        self._project.put(UNDER_WAY, b"")
        wait_until(lambda: self._project.exists(WORD), "the test says the word", SECONDS)
        yield from batches


class Folder:
    """A folder into which files of ten rows come one after the other, and the stream that reads them."""

    def __init__(self, path: Path, spark: SparkSession) -> None:
        self.path = path / "in"
        self.path.mkdir()
        self.checkpoint_path = path / "checkpoint"
        self.checkpoint = str(self.checkpoint_path)
        self._spark = spark

    def add(self, numbers: Sequence[int]) -> None:
        """Writes files, each at once."""
        for number in numbers:
            lines = (json.dumps({"id": row}) for row in range(number * ROWS, (number + 1) * ROWS))
            hidden = self.path / f"_{number}"
            hidden.write_text("\n".join(lines))
            hidden.rename(self.path / f"{number:03}.json")

    def stream(self) -> DataFrame:
        """Returns the stream, whose micro-batches are single files."""
        reader = self._spark.readStream.schema("id long").option("maxFilesPerTrigger", 1)
        return reader.json(str(self.path))

    def endless_stream(self) -> DataFrame:
        """Returns a stream whose first micro-batch has no end."""
        return self.stream().mapInArrow(EndlessRows(), "id long")

    def is_done(self, number: int) -> bool:
        """Tells whether a micro-batch is on record as done."""
        return (self.checkpoint_path / "commits" / str(number)).exists()

    def undo(self, number: int) -> None:
        """Takes a micro-batch from the record, as if the driver had died before it was written."""
        for name in (str(number), f".{number}.crc"):
            (self.checkpoint_path / "commits" / name).unlink()

    def lose_offsets(self) -> None:
        """Puts a file where Spark plans micro-batches."""
        shutil.rmtree(self.checkpoint_path / "offsets")
        (self.checkpoint_path / "offsets").write_text("")


@pytest.fixture
def folder(tmp_path: Path, spark: SparkSession) -> Folder:
    return Folder(tmp_path, spark)


def wait_for_batches(feed: StreamFeed, number: int) -> None:
    wait_until(lambda: feed.batches >= number or not feed.is_active, f"{number} batches were fed", SECONDS)
    assert feed.batches == number


def fed_ids(cluster: Cluster) -> list[int]:
    """Returns all rows that the nodes got."""
    return sorted(number for ids in cluster.shutdown().values for number in ids)


def batches_on_record(cluster: Cluster) -> list[tuple[int, int]]:
    """Returns number and rows of each micro-batch."""
    feeds: Any = RunReader(Project.open(), cluster.run_id).record().details["feeds"]
    return [(each["epoch"], each["rows"]) for each in feeds]


def test_a_stream_feeds_the_nodes_and_the_next_run_goes_on_where_it_was_stopped(
    folder: Folder, spark: SparkSession
) -> None:
    folder.add(range(5))
    with Cluster(collect_ids, nodes=1, feed=True) as cluster:
        feed = cluster.train_stream(folder.stream(), checkpoint=folder.checkpoint)
        for last in (10, 15, 20):
            folder.add(range(last - 5, last))
            wait_for_batches(feed, last)
        feed.stop()
        feed.wait(0)
        folder.add(range(20, 25))
        assert fed_ids(cluster) == list(range(20 * ROWS))
    assert (feed.is_active, feed.rows) == (False, 20 * ROWS)
    assert batches_on_record(cluster) == [(number, ROWS) for number in range(20)]
    assert folder.is_done(19)

    with Cluster(collect_ids, nodes=1, feed=True) as resumed:
        feed = resumed.train_stream(folder.stream(), checkpoint=folder.checkpoint)
        wait_for_batches(feed, 5)
        assert fed_ids(resumed) == list(range(20 * ROWS, 25 * ROWS))
    assert not feed.is_active
    assert spark.streams.active == []
    assert batches_on_record(resumed) == [(number, ROWS) for number in range(20, 25)]


def test_a_micro_batch_that_is_not_on_record_comes_again_in_the_next_run_only(folder: Folder) -> None:
    folder.add(range(2))
    with Cluster(collect_ids, nodes=1, feed=True) as cluster:
        feed = cluster.train_stream(folder.stream(), checkpoint=folder.checkpoint)
        wait_for_batches(feed, 2)
        feed.stop()
        folder.undo(1)
        folder.add([2])
        feed = cluster.train_stream(folder.stream(), checkpoint=folder.checkpoint)
        wait_for_batches(feed, 1)
        assert fed_ids(cluster) == list(range(3 * ROWS))
    folder.undo(2)
    with Cluster(collect_ids, nodes=1, feed=True) as resumed:
        feed = resumed.train_stream(
            folder.stream(), checkpoint=folder.checkpoint, trigger={"availableNow": True}
        )
        feed.wait(SECONDS)
        assert fed_ids(resumed) == list(range(2 * ROWS, 3 * ROWS))


def test_a_node_that_fails_breaks_off_the_micro_batch_under_way(folder: Folder, spark: SparkSession) -> None:
    folder.add(range(2))
    cluster = Cluster(fail_at_row_25, feed=True).start()
    feed = cluster.train_stream(folder.endless_stream(), checkpoint=folder.checkpoint)
    with pytest.raises(NodeFailed, match="row 25 cannot be learnt"):
        feed.wait(SECONDS)
    with pytest.raises(NodeFailed, match="row 25 cannot be learnt"):
        cluster.shutdown()
    assert (feed.is_active, feed.batches) == (False, 0)
    assert spark.streams.active == []
    assert not folder.is_done(0)


def test_a_node_that_fails_while_no_rows_come_ends_the_stream(folder: Folder) -> None:
    folder.add([0])
    cluster = Cluster(fail_when_told, feed=True).start()
    feed = cluster.train_stream(folder.stream(), checkpoint=folder.checkpoint)
    wait_for_batches(feed, 1)
    say_the_word(Project.open())
    wait_until(lambda: not feed.is_active, "the stream has ended", SOON_SECONDS)
    with pytest.raises(NodeFailed, match="it was told to fail"):
        cluster.shutdown()


def test_nodes_that_want_no_more_break_off_the_micro_batch_under_way(
    folder: Folder, spark: SparkSession
) -> None:
    folder.add(range(2))
    with Cluster(take_25, nodes=2, feed=True) as cluster:
        feed = cluster.train_stream(folder.endless_stream(), checkpoint=folder.checkpoint)
        feed.wait(SECONDS)
        assert spark.streams.active == []
        assert cluster.shutdown().values == (25, 25)
    assert feed.batches == 0
    assert not folder.is_done(0)


def test_nodes_that_want_no_more_while_no_rows_come_end_the_stream(folder: Folder) -> None:
    folder.add([0])
    with Cluster(take_10_and_wait, feed=True) as cluster:
        feed = cluster.train_stream(folder.stream(), checkpoint=folder.checkpoint)
        wait_for_batches(feed, 1)
        say_the_word(Project.open())
        feed.wait(SOON_SECONDS)
        assert cluster.shutdown().values == (ROWS,)
    assert folder.is_done(0)


def test_a_stop_that_takes_too_long_says_so_and_the_micro_batch_is_fed_all_the_same(folder: Folder) -> None:
    folder.add([0])
    project = Project.open()
    with Cluster(collect_ids, feed=True) as cluster:
        frame = folder.stream().mapInArrow(HeldRows(project), "id long")
        feed = cluster.train_stream(frame, checkpoint=folder.checkpoint)
        wait_until(lambda: project.exists(UNDER_WAY), "the first micro-batch is under way", SECONDS)
        folder.add([1])
        with pytest.raises(StillStreaming, match=r"after 0\.2 s, 0 batches so far"):
            feed.stop(0.2)
        with pytest.raises(StillStreaming):
            cluster.shutdown(0.2)
        say_the_word(project)
        assert fed_ids(cluster) == list(range(ROWS))
    assert folder.is_done(0)
    assert not folder.is_done(1)


def test_rows_that_cannot_be_computed_end_the_run_with_their_cause(folder: Folder) -> None:
    folder.add([0])
    frame = folder.stream().selectExpr("raise_error('this row is spoilt') AS id")
    cluster = Cluster(collect_ids, feed=True).start()
    with pytest.raises(FeedJobFailed, match="this row is spoilt"):
        leave_when_the_stream_has_ended(cluster, frame, folder)
    record = RunReader(Project.open(), cluster.run_id).record()
    assert record.state is RunState.FAILED
    assert "this row is spoilt" in record.error


def leave_when_the_stream_has_ended(cluster: Cluster, frame: DataFrame, folder: Folder) -> None:
    with cluster:
        feed = cluster.train_stream(frame, checkpoint=folder.checkpoint)
        wait_until(lambda: not feed.is_active, "the stream has ended", SECONDS)


def test_a_stream_that_cannot_be_read_ends_the_run_with_its_cause(folder: Folder) -> None:
    folder.add([0])
    cluster = Cluster(collect_ids, feed=True).start()
    feed = cluster.train_stream(folder.stream(), checkpoint=folder.checkpoint)
    wait_for_batches(feed, 1)
    folder.lose_offsets()
    folder.add([1])
    with pytest.raises(StreamFailed, match="offsets"):
        feed.wait(SECONDS)
    with pytest.raises(StreamFailed, match="offsets"):
        cluster.shutdown()


def test_a_driver_that_fails_leaves_no_stream_behind(folder: Folder, spark: SparkSession) -> None:
    cluster = Cluster(collect_ids, feed=True).start()
    folder.add([0])
    with pytest.raises(ZeroDivisionError):
        fail_beside(cluster, folder)
    assert spark.streams.active == []


def fail_beside(cluster: Cluster, folder: Folder) -> None:
    with cluster:
        wait_for_batches(cluster.train_stream(folder.stream(), checkpoint=folder.checkpoint), 1)
        1 / 0  # noqa: B018


def test_streams_that_make_no_sense_are_refused(folder: Folder, spark: SparkSession) -> None:
    with Cluster(collect_ids, feed=True) as cluster:
        with pytest.raises(BadArguments, match="a streaming DataFrame needs checkpoint="):
            cluster.train(folder.stream())
        with pytest.raises(BadArguments, match=r"train_stream\(\): .*give it to train\(\)"):
            cluster.train_stream(spark.range(3), checkpoint=folder.checkpoint)
        with pytest.raises(BadArguments, match="a stream is fed once"):
            cluster.train(folder.stream(), epochs=2, checkpoint=folder.checkpoint)
        with pytest.raises(BadArguments, match="for streaming DataFrames only"):
            cluster.train(spark.range(3), checkpoint=folder.checkpoint)
        with pytest.raises(BadArguments, match=r"Spark cannot read the stream so: .*soon"):
            cluster.train(folder.stream(), checkpoint=folder.checkpoint, trigger={"processingTime": "soon"})
        cluster.train(spark.range(3))
        assert fed_ids(cluster) == [0, 1, 2]


@pytest.fixture
def streaming(spark: SparkSession) -> Iterator[StreamingContext]:
    """A streaming context that looks for rows five times a second."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # DStreams are deprecated, and work
        from pyspark.streaming import StreamingContext

        context = StreamingContext(spark.sparkContext, 0.2)
    yield context
    context.stop(stopSparkContext=False, stopGraceFully=False)


def queue(streaming: StreamingContext, numbers: Sequence[int]) -> DStream[int]:
    """Returns a stream of RDDs of ten rows, and then of empty ones."""
    sc = streaming.sparkContext
    rdds = [sc.parallelize(range(number * ROWS, (number + 1) * ROWS), 2) for number in numbers]
    return streaming.queueStream(rdds)


def test_the_rdds_of_a_dstream_reach_the_nodes_once(streaming: StreamingContext) -> None:
    with Cluster(collect_ids, nodes=2, feed=True) as cluster:
        feed = cluster.train(queue(streaming, range(4)))
        streaming.start()
        wait_for_batches(feed, 4)
        assert fed_ids(cluster) == list(range(4 * ROWS))
    assert (feed.is_active, feed.rows) == (False, 4 * ROWS)
    assert batches_on_record(cluster) == [(number, ROWS) for number in range(4)]


def test_a_dstream_ends_when_the_nodes_want_no_more(streaming: StreamingContext) -> None:
    with Cluster(take_25, feed=True) as cluster:
        feed = cluster.train(queue(streaming, range(50)))
        streaming.start()
        feed.wait(SECONDS)
        assert cluster.shutdown().values == (25,)
    assert 2 <= feed.batches < 50


def test_a_failure_to_feed_a_dstream_is_raised_at_the_end(streaming: StreamingContext) -> None:
    rows = queue(streaming, [0]).map(spoil)
    cluster = Cluster(collect_ids, feed=True).start()
    feed = cluster.train(rows)
    streaming.start()
    wait_until(lambda: not feed.is_active, "the stream has ended", SECONDS)
    with pytest.raises(FeedJobFailed, match="modulo by zero"):
        cluster.shutdown()


def spoil(number: int) -> int:
    return 1 % (7 - number)
