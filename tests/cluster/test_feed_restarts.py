"""What becomes of a feed when its nodes are killed and started again: on real processes."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from hopyard import Cluster, NodeContext, Project
from hopyard.errors import FeedJobFailed, NodeFailed, StillRunning
from hopyard.feed.account import EpochAccount
from hopyard.feed.pieces import PIECE_BYTES
from hopyard.feed.state import FeedState
from hopyard.testing.watching import WORD, say_the_word, sign_in, signed_in, wait_until
from hopyard.tracking import RunReader, RunState

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from hopyard.tracking import RunRecord

pytestmark = [pytest.mark.cluster, pytest.mark.spark]

SECONDS = 90
ROWS = 400
FREE_ROWS = 200  # which come before the others, that are held back
BIG_ROWS = 80  # of the size of a piece each, which are more than the inboxes of two nodes hold
FILE_ROWS = 10
SOON_SECONDS = 5.0
A_WHILE_SECONDS = 2.0
HELD = "held"


def collect(ctx: NodeContext) -> tuple[int, list[int]]:
    """Returns the attempt, and the rows that came."""
    feed = ctx.feed()
    sign_in(ctx)
    ids: list[int] = []
    while len(batch := feed.next_batch(FILE_ROWS)):
        ids += batch.column("id").to_pylist()
    return ctx.attempt, ids


def collect_or_wait_in_the_second_epoch(ctx: NodeContext) -> tuple[int, list[int]]:
    """Does as `collect`, and at first reads no further when a row comes again."""
    feed = ctx.feed()
    sign_in(ctx)
    seen: list[int] = []
    while len(batch := feed.next_batch(1)):
        ids = batch.column("id").to_pylist()
        if ctx.attempt == 0 and not set(seen).isdisjoint(ids):
            threading.Event().wait()
        seen += ids
    return ctx.attempt, seen


class HeldRows:
    """Lets rows through, but from one on only when a test has said the word."""

    def __init__(self, project: Project, first: int) -> None:
        self._project = project
        self._first = first

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if batch.column("id").to_pylist()[0] >= self._first:
                self._project.put(HELD, b"")
                wait_until(lambda: self._project.exists(WORD), "the test says the word", SECONDS)
            yield batch


def held_rows(spark: SparkSession) -> DataFrame:
    """Returns four partitions; the last two are held back."""
    rows = spark.range(0, ROWS, 1, 4)
    return rows.mapInArrow(HeldRows(Project.open(), FREE_ROWS), "id long")


def big_rows(spark: SparkSession) -> DataFrame:
    return spark.range(0, BIG_ROWS, 1, BIG_ROWS // 10).selectExpr("id", f"repeat('x', {PIECE_BYTES}) AS text")


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as pool:
        yield pool


def feed(
    pool: ThreadPoolExecutor, cluster: Cluster, frame: DataFrame, **options: Any
) -> Future[tuple[EpochAccount, ...]]:
    """Feeds a cluster in another thread."""
    return pool.submit(cluster.train, frame, **options)


def kill_when_consumed(cluster: Cluster, rows: int, *, attempt: int = 0) -> None:
    """Kills node 1 once the nodes have drawn so many rows."""
    victim = signed_in(Project.open(), 2, attempt=attempt)[1]
    wait_until(lambda: consumed(cluster) == rows, f"{rows} rows were drawn", SECONDS)
    victim.kill()


def consumed(cluster: Cluster) -> int:
    return sum(FeedState.of(node.notes).consumed for node in cluster.nodes())


def rows_of_attempt(cluster: Cluster, attempt: int) -> list[int]:
    """Returns the rows that the nodes got, all of which belong to one attempt."""
    values = cluster.shutdown(SECONDS).values
    assert [number for number, _ in values] == [attempt, attempt]
    return sorted(row for _, ids in values for row in ids)


def record_of(cluster: Cluster) -> RunRecord:
    return RunReader(Project.open(), cluster.run_id).record()


def epochs_on_record(cluster: Cluster) -> list[tuple[int, int, int]]:
    """Returns number, rows and attempt of each epoch."""
    feeds: Any = record_of(cluster).details["feeds"]
    return [(each["epoch"], each["rows"], each["attempt"]) for each in feeds]


def test_nodes_that_start_again_get_the_epoch_under_way_from_its_beginning(
    executors: SparkSession, pool: ThreadPoolExecutor
) -> None:
    with Cluster(collect, nodes=2, feed=True, max_restarts=1) as cluster:
        accounts = feed(pool, cluster, held_rows(executors))
        kill_when_consumed(cluster, FREE_ROWS)
        signed_in(Project.open(), 2, attempt=1)
        say_the_word(Project.open())
        (account,) = accounts.result(SECONDS)
        assert (account.rows, account.partitions, account.is_whole) == (ROWS, 4, True)
        assert (account.skipped, account.dropped, account.attempt) == (0, 0, 1)
        assert rows_of_attempt(cluster, 1) == list(range(ROWS))
    assert epochs_on_record(cluster) == [(0, ROWS, 1)]
    (restart,) = record_of(cluster).restarts
    assert "node 1 (worker)" in restart


def test_a_death_that_is_heard_of_only_when_all_rows_are_fed_is_not_overlooked(
    executors: SparkSession, pool: ThreadPoolExecutor
) -> None:
    with Cluster(collect, nodes=2, feed=True, max_restarts=1) as cluster:
        accounts = feed(pool, cluster, held_rows(executors))
        victim = signed_in(Project.open(), 2)[1]
        wait_until(lambda: consumed(cluster) == FREE_ROWS, "rows were drawn", SECONDS)
        _warden, supervisor, *_ = victim.parents()
        supervisor.suspend()
        try:
            victim.kill()
            say_the_word(Project.open())
            jobs = executors.sparkContext.statusTracker()
            wait_until(lambda: not jobs.getActiveJobsIds(), "the other node has got the rest", SECONDS)
            with pytest.raises(TimeoutError):
                accounts.result(A_WHILE_SECONDS)
        finally:
            supervisor.resume()
        (account,) = accounts.result(SECONDS)
        assert (account.rows, account.is_whole, account.attempt) == (ROWS, True, 1)
        assert rows_of_attempt(cluster, 1) == list(range(ROWS))


def test_an_epoch_that_nodes_read_again_is_fed_by_spark_to_those_that_start_again(
    executors: SparkSession, pool: ThreadPoolExecutor
) -> None:
    with Cluster(collect_or_wait_in_the_second_epoch, nodes=2, feed=True, max_restarts=1) as cluster:
        accounts = feed(pool, cluster, big_rows(executors), epochs=2)
        kill_when_consumed(cluster, BIG_ROWS + 2)  # each node has drawn one row again
        first, second = accounts.result(SECONDS)
        assert (first.rows, first.is_whole, first.attempt) == (BIG_ROWS, True, 0)
        assert (second.rows, second.is_whole, second.attempt) == (BIG_ROWS, True, 1)
        assert not second.is_replayed
        assert rows_of_attempt(cluster, 1) == list(range(BIG_ROWS))
    assert epochs_on_record(cluster) == [(0, BIG_ROWS, 0), (1, BIG_ROWS, 1)]


def test_a_node_that_is_killed_once_more_than_allowed_ends_the_feed_with_its_cause(
    executors: SparkSession, pool: ThreadPoolExecutor
) -> None:
    with Cluster(collect, nodes=2, feed=True, max_restarts=1) as cluster:
        accounts = feed(pool, cluster, held_rows(executors))
        kill_when_consumed(cluster, FREE_ROWS)
        kill_when_consumed(cluster, FREE_ROWS, attempt=1)
        began = time.monotonic()
        with pytest.raises(NodeFailed, match=r"node 1 \(worker\)") as caught:
            accounts.result(SECONDS)
        assert time.monotonic() - began < SOON_SECONDS
        assert "killed by signal 9" in str(caught.value)
        with pytest.raises(NodeFailed, match="killed by signal 9"):
            cluster.shutdown()
    record = record_of(cluster)
    assert (record.state, len(record.restarts)) == (RunState.FAILED, 1)


def test_a_stream_goes_on_with_the_micro_batch_under_way_when_nodes_start_again(
    executors: SparkSession, tmp_path: Path
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    add_file(folder, 0)
    reader = executors.readStream.schema("id long").option("maxFilesPerTrigger", 1)
    stream = reader.json(str(folder)).mapInArrow(HeldRows(Project.open(), FILE_ROWS), "id long")
    with Cluster(collect, nodes=2, feed=True, max_restarts=1) as cluster:
        handle = cluster.train(stream, checkpoint=str(tmp_path / "checkpoint"))
        wait_until(lambda: handle.batches == 1, "the first micro-batch was fed", SECONDS)
        add_file(folder, 1)
        wait_until(lambda: Project.open().exists(HELD), "the second one is held back", SECONDS)
        kill_when_consumed(cluster, FILE_ROWS)
        signed_in(Project.open(), 2, attempt=1)
        say_the_word(Project.open())
        add_file(folder, 2)
        wait_until(lambda: handle.batches == 3, "all micro-batches were fed", SECONDS)
        handle.stop(SECONDS)
        handle.wait(0)
        assert rows_of_attempt(cluster, 1) == list(range(FILE_ROWS, 3 * FILE_ROWS))
    assert executors.streams.active == []
    assert epochs_on_record(cluster) == [(0, FILE_ROWS, 0), (1, FILE_ROWS, 1), (2, FILE_ROWS, 1)]


# --- after train() has returned: the rows are in the nodes, and not yet read -------------------------


def read_one_epoch_then_wait(ctx: NodeContext) -> tuple[int, int, list[tuple[int, list[int]]]]:
    """Returns the attempt, its first epoch, and the number and rows of each; at first it reads no further than one."""
    feed = ctx.feed()
    first = feed.first_epoch
    sign_in(ctx)
    seen: list[tuple[int, list[int]]] = []
    for epoch in feed.epochs():
        if ctx.attempt == 0 and seen:
            ctx.project.put(f"waits/{ctx.rank}", b"")
            threading.Event().wait()
        seen.append((epoch.number, [row for batch in epoch.as_numpy(50) for row in batch["id"].tolist()]))
    return ctx.attempt, first, seen


def read_and_validate(ctx: NodeContext) -> tuple[int, int, list[tuple[int, list[int]]], int]:
    """Does as `read_one_epoch_then_wait`, and tells how many rows there are to validate with."""
    return *read_one_epoch_then_wait(ctx), len(ctx.feed("validation"))


def kill_between_epochs() -> None:
    """Kills node 1 once all nodes have read an epoch, and have the next ones in their memory."""
    project = Project.open()
    victim = signed_in(project, 2)[1]
    wait_until(lambda: all(project.exists(f"waits/{rank}") for rank in (0, 1)), "an epoch is read", SECONDS)
    victim.kill()


def rows_by_epoch(values: Any) -> dict[int, list[int]]:
    """Returns what all nodes together have got in each epoch."""
    epochs: dict[int, list[int]] = {}
    for value in values:
        for number, ids in value[2]:
            epochs[number] = sorted([*epochs.get(number, []), *ids])
    return epochs


def test_epochs_that_were_not_read_are_fed_again_although_train_has_returned(executors: SparkSession) -> None:
    with Cluster(read_one_epoch_then_wait, nodes=2, feed=True, max_restarts=1) as cluster:
        assert len(cluster.train(executors.range(0, ROWS, 1, 4), epochs=3)) == 3
        kill_between_epochs()
        values = cluster.wait(SECONDS).values
    assert [(attempt, first) for attempt, first, _ in values] == [(1, 1), (1, 1)]
    assert rows_by_epoch(values) == {1: [*range(ROWS)], 2: [*range(ROWS)]}
    assert epochs_on_record(cluster) == [
        (0, ROWS, 0),
        (1, ROWS, 0),
        (2, ROWS, 0),
        (1, ROWS, 1),
        (2, ROWS, 1),
    ]


def test_rows_for_validation_are_there_again_although_train_has_returned(executors: SparkSession) -> None:
    with Cluster(read_and_validate, nodes=2, feed=True, max_restarts=1) as cluster:
        cluster.train(
            executors.range(0, ROWS, 1, 4), epochs=2, validation=executors.range(0, FREE_ROWS, 1, 2)
        )
        kill_between_epochs()
        values = cluster.wait(SECONDS).values
    assert [validation for *_, validation in values] == [FREE_ROWS, FREE_ROWS]
    assert rows_by_epoch(values) == {1: [*range(ROWS)]}


def read_all_then_validate(ctx: NodeContext) -> tuple[int, int, int]:
    """Returns the attempt, how many rows came, and how many there are to validate with; at first it gets no further."""
    feed = ctx.feed()
    sign_in(ctx)
    rows = sum(len(batch) for batch in feed)
    if ctx.attempt == 0:
        ctx.project.put(f"waits/{ctx.rank}", b"")
        threading.Event().wait()
    return ctx.attempt, rows, len(ctx.feed("validation"))


def test_rows_for_validation_are_there_again_when_all_others_were_read(
    executors: SparkSession, pool: ThreadPoolExecutor
) -> None:
    with Cluster(read_all_then_validate, nodes=2, feed=True, max_restarts=1) as cluster:
        cluster.train(executors.range(0, ROWS, 1, 4), validation=executors.range(0, FREE_ROWS, 1, 2))
        result = pool.submit(cluster.wait, SECONDS)
        kill_between_epochs()
        assert result.result(SECONDS).values == ((1, 0, FREE_ROWS), (1, 0, FREE_ROWS))


def test_rows_of_two_calls_of_train_are_fed_again_in_their_order(executors: SparkSession) -> None:
    with Cluster(read_one_epoch_then_wait, nodes=2, feed=True, max_restarts=1) as cluster:
        cluster.train(executors.range(0, ROWS, 1, 4), epochs=2)
        cluster.train(executors.range(ROWS, 2 * ROWS, 1, 4))
        kill_between_epochs()
        values = cluster.wait(SECONDS).values
    assert rows_by_epoch(values) == {1: [*range(ROWS)], 2: [*range(ROWS, 2 * ROWS)]}


def test_rows_of_an_earlier_call_that_were_not_read_come_before_those_under_way(
    executors: SparkSession, pool: ThreadPoolExecutor
) -> None:
    with Cluster(read_one_epoch_then_wait, nodes=2, feed=True, max_restarts=1) as cluster:
        cluster.train(executors.range(ROWS, 2 * ROWS, 1, 4), epochs=2)
        accounts = feed(pool, cluster, held_rows(executors))
        kill_between_epochs()
        signed_in(Project.open(), 2, attempt=1)
        say_the_word(Project.open())
        (account,) = accounts.result(SECONDS)
        assert (account.rows, account.attempt) == (ROWS, 1)
        values = cluster.wait(SECONDS).values
    assert rows_by_epoch(values) == {1: [*range(ROWS, 2 * ROWS)], 2: [*range(ROWS)]}


def read_two_epochs_then_wait(ctx: NodeContext) -> tuple[int, list[int]]:
    """Returns the attempt and the numbers of its epochs; at first it reads no further than two."""
    numbers: list[int] = []
    feed = ctx.feed()
    sign_in(ctx)
    for epoch in feed.epochs():
        if ctx.attempt == 0 and len(numbers) == 2:
            ctx.project.put(f"waits/{ctx.rank}", b"")
            threading.Event().wait()
        numbers.append(epoch.number)
        assert sum(len(batch["id"]) for batch in epoch.as_numpy(50))
    return ctx.attempt, numbers


def test_epochs_keep_their_numbers_through_all_calls_of_train(executors: SparkSession) -> None:
    with Cluster(read_two_epochs_then_wait, nodes=2, feed=True, max_restarts=1) as cluster:
        cluster.train(executors.range(0, ROWS, 1, 4))
        cluster.train(executors.range(0, ROWS, 1, 4), epochs=3)
        kill_between_epochs()
        assert cluster.wait(SECONDS).values == ((1, [2, 3]), (1, [2, 3]))


def feed_then_hold_back(cluster: Cluster, executors: SparkSession) -> None:
    """Feeds three epochs, of which nodes read one and fail; when they start again, half of the rows do not come."""
    say_the_word(Project.open())
    cluster.train(held_rows(executors), epochs=3)
    Project.open().remove(WORD)
    kill_between_epochs()
    signed_in(Project.open(), 2, attempt=1)


def test_a_wait_ends_in_time_while_rows_are_fed_again_and_these_go_on(executors: SparkSession) -> None:
    with Cluster(read_one_epoch_then_wait, nodes=2, feed=True, max_restarts=1) as cluster:
        feed_then_hold_back(cluster, executors)
        with pytest.raises(StillRunning):
            cluster.wait(A_WHILE_SECONDS)
        say_the_word(Project.open())
        values = cluster.wait(SECONDS).values
    assert rows_by_epoch(values) == {1: [*range(ROWS)], 2: [*range(ROWS)]}


def test_a_stop_ends_the_job_that_feeds_rows_again(executors: SparkSession) -> None:
    jobs = executors.sparkContext.statusTracker()
    with Cluster(read_one_epoch_then_wait, nodes=2, feed=True, max_restarts=1) as cluster:
        feed_then_hold_back(cluster, executors)
        wait_until(lambda: bool(jobs.getActiveJobsIds()), "rows are fed again", SECONDS)
        cluster.stop("enough")
        assert not jobs.getActiveJobsIds()
    say_the_word(Project.open())
    assert record_of(cluster).state is RunState.KILLED


class LostRows:
    """Lets rows through as long as a file is there."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            self._project.read(WORD)
            yield batch


def test_rows_that_cannot_be_fed_again_end_the_run_with_the_cause(executors: SparkSession) -> None:
    project = Project.open()
    say_the_word(project)
    with Cluster(read_one_epoch_then_wait, nodes=2, feed=True, max_restarts=1) as cluster:
        cluster.train(executors.range(0, ROWS, 1, 4).mapInArrow(LostRows(project), "id long"), epochs=3)
        project.remove(WORD)
        kill_between_epochs()
        with pytest.raises(FeedJobFailed, match=WORD):
            cluster.wait(SECONDS)
    assert record_of(cluster).state is RunState.FAILED


def add_file(folder: Path, number: int) -> None:
    """Writes a file of ten rows at once."""
    rows = range(number * FILE_ROWS, (number + 1) * FILE_ROWS)
    hidden = folder / f"_{number}"
    hidden.write_text("\n".join(json.dumps({"id": row}) for row in rows))
    hidden.rename(folder / f"{number:03}.json")
