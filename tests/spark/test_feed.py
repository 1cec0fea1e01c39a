"""Rows of DataFrames and RDDs in the nodes of a run, on as many slots as there are nodes."""

from __future__ import annotations

import json
import runpy
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hopyard import Cluster, NodeContext, Project
from hopyard.errors import BadArguments, FeedJobFailed, FeedStalled, NodeFailed, NotFed
from hopyard.protocol.node_status import Phase
from hopyard.testing.watching import WORD, say_the_word, wait_until
from hopyard.tracking import RunReader, RunState, run_paths

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

ROWS = 20_000


def sum_ids(ctx: NodeContext) -> tuple[int, int]:
    """Returns how many rows came, and their sum."""
    rows = total = 0
    feed = ctx.feed()
    while len(batch := feed.next_batch(700)):
        rows += len(batch)
        total += sum(batch if isinstance(batch, list) else batch.column("id").to_pylist())
    return rows, total


def square(ctx: NodeContext) -> int:
    feed = ctx.feed()
    batches = 0
    while len(batch := feed.next_batch(64)):
        batches += 1
        if isinstance(batch, list):
            feed.batch_results([number * number for number in batch])
        else:
            feed.batch_results({"square": batch.column("id").to_numpy() ** 2})
    return batches


def fail_at_once(ctx: NodeContext) -> None:
    feed = ctx.feed()
    feed.next_batch(10)
    raise ArithmeticError("this row cannot be learnt")


def fail_at_the_end(ctx: NodeContext) -> None:
    feed = ctx.feed()
    while len(feed.next_batch(1000)):
        continue
    raise ArithmeticError("could not export the model")


def never_read(ctx: NodeContext) -> None:
    ctx.feed()
    wait_until(ctx.should_stop, "the run is stopped", 120)


def answer_too_little(ctx: NodeContext) -> None:
    feed = ctx.feed()
    while len(batch := feed.next_batch(64)):
        feed.batch_results([0] * (len(batch) - 1))


class EndlessRows:
    """A partition without end, slowly."""

    def __call__(self, _: Iterator[Any]) -> Iterator[int]:
        number = 0
        while True:
            yield number
            number += 1


def values(cluster: Cluster) -> tuple[int, int]:
    """Returns the sums over all nodes."""
    rows, totals = zip(*cluster.shutdown().values, strict=True)
    return sum(rows), sum(totals)


def test_all_rows_of_a_dataframe_reach_the_nodes_once_an_epoch(spark: SparkSession) -> None:
    with Cluster(sum_ids, nodes=2, feed=True) as cluster:
        accounts = cluster.train(spark.range(0, ROWS, 1, 5), epochs=2)
        assert values(cluster) == (2 * ROWS, 2 * sum(range(ROWS)))
    assert [(account.rows, account.is_replayed) for account in accounts] == [(ROWS, False), (ROWS, True)]
    record = RunReader(Project.open(), cluster.run_id).record()
    feeds: Any = record.details["feeds"]
    assert [(epoch["epoch"], epoch["rows"], epoch["partitions"]) for epoch in feeds] == [
        (0, ROWS, 5),
        (1, ROWS, 0),
    ]
    path = Project.open().layout.run(record.id.app_id, record.id.kind, record.id.number).feed(0, 0)
    reports = json.loads(Project.open().read(path))["reports"]
    assert sorted(report["partition"] for report in reports) == list(range(5))
    assert sum(sum(report["sent"].values()) for report in reports) == ROWS


def batches_in_step(ctx: NodeContext) -> tuple[int, int, list[int]]:
    """Returns the number of batches and rows, and the first rows of each epoch."""
    rows = batches = 0
    feed = ctx.feed(uneven="drop")
    order: list[int] = []
    while len(batch := feed.next_batch(64)):
        batches += 1
        rows += len(batch)
        order += batch.column("id").to_pylist() if not isinstance(batch, list) else []
    return batches, rows, order


def test_nodes_in_step_get_the_same_number_of_batches_and_rows_come_in_another_order(
    spark: SparkSession,
) -> None:
    with Cluster(batches_in_step, nodes=2, feed=True) as cluster:
        cluster.train(spark.range(0, 5_000, 1, 3), epochs=3, shuffle_seed=7)
        (batches, rows, first), (others, other_rows, second) = cluster.shutdown().values
    assert batches == others
    assert rows == other_rows == 64 * batches
    assert 3 * 5_000 - 2 * rows < 3 * 3_000
    assert first != sorted(first)
    assert set(first) | set(second) <= set(range(5_000))


def batches_of_epochs(ctx: NodeContext) -> list[int]:
    """Returns the number of batches in each epoch."""
    rows = ctx.feed(uneven="drop").as_numpy(32)
    return [sum(1 for _ in rows) for _ in range(2)]


def test_a_partition_of_a_few_rows_is_spread_evenly_over_nodes_in_step(spark: SparkSession) -> None:
    with Cluster(batches_of_epochs, nodes=2, feed=True) as cluster:
        accounts = cluster.train(spark.range(0, 3001, 1, 1), epochs=2)
        first, second = cluster.shutdown().values
    assert first == second
    assert min(first) >= 40
    assert [(account.rows, account.is_whole) for account in accounts] == [(3001, True)] * 2


def test_an_epoch_without_a_whole_batch_for_each_node_is_an_error(spark: SparkSession) -> None:
    with (
        pytest.raises(NodeFailed, match=r"NoWholeBatch: node \d got \d+ rows.*df\.repartition"),
        Cluster(batches_of_epochs, nodes=2, feed=True) as cluster,
    ):
        cluster.train(spark.range(0, 20, 1, 1), epochs=2)


def reads_five_rows_or_all(ctx: NodeContext, uneven: str) -> int:
    """Returns how many batches of one row came; the second node returns after its five, and does not ask for more."""
    feed, batches = ctx.feed(uneven=uneven), 0
    while (ctx.rank == 0 or batches < 5) and len(feed.next_batch(1)):
        batches += 1
    return batches


@pytest.mark.parametrize("uneven", ["drop", "pad"])
def test_a_node_that_returns_before_the_others_does_not_leave_them_waiting(
    uneven: str, spark: SparkSession
) -> None:
    numbers = spark.sparkContext.parallelize
    rows = numbers(range(10), 1).union(numbers(range(5), 1))  # a partition for each node
    with Cluster(reads_five_rows_or_all, {"uneven": uneven}, nodes=2, feed=True) as cluster:
        cluster.train(rows)
        wait_until(lambda: cluster.nodes()[1].phase is Phase.FINISHED, "the second node has returned", 60)
        assert cluster.wait(30).values == (5, 5)


def test_objects_of_an_rdd_reach_the_nodes_once(spark: SparkSession) -> None:
    with Cluster(sum_ids, nodes=2, feed=True) as cluster:
        cluster.train(spark.sparkContext.parallelize(range(ROWS), 3))
        cluster.train(spark.sparkContext.parallelize(range(10), 2))
        assert values(cluster) == (ROWS + 10, sum(range(ROWS)) + sum(range(10)))


def test_results_come_back_in_the_order_of_the_rows(spark: SparkSession) -> None:
    with Cluster(square, nodes=2, feed=True) as cluster:
        frame = cluster.inference(spark.range(0, 5_000, 1, 3), schema="square long")
        assert [row.square for row in frame.collect()] == [number**2 for number in range(5_000)]
        rdd = cluster.inference(spark.sparkContext.parallelize(range(3_000), 3))
        assert rdd.collect() == [number**2 for number in range(3_000)]
        assert rdd.take(5) == [0, 1, 4, 9, 16]


def test_a_node_that_fails_while_it_is_fed_ends_the_feed_with_its_cause(spark: SparkSession) -> None:
    cluster = Cluster(fail_at_once, nodes=2, feed=True).start()
    cluster.ready()
    with pytest.raises(NodeFailed, match="this row cannot be learnt"):
        cluster.train(spark.sparkContext.parallelize([0], 1).mapPartitions(EndlessRows()))
    assert cluster.has_ended()


def test_an_exception_after_the_feed_is_raised(spark: SparkSession) -> None:
    cluster = Cluster(fail_at_the_end, nodes=2, feed=True).start()
    cluster.train(spark.range(100))
    with pytest.raises(NodeFailed, match="could not export the model"):
        cluster.shutdown()


def test_nodes_that_want_no_more_end_the_feed(spark: SparkSession) -> None:
    with Cluster(take_a_few, nodes=2, feed=True) as cluster:
        cluster.ready()
        account = cluster.train(spark.sparkContext.parallelize([0, 0], 2).mapPartitions(EndlessRows()))[0]
        assert not account.is_whole
        assert cluster.shutdown().values == (100, 100)


def take_a_few(ctx: NodeContext) -> int:
    feed = ctx.feed()
    rows = len(feed.next_batch(100))
    feed.terminate()
    assert feed.should_stop()
    return rows


def test_rows_that_nobody_consumes_are_an_error_that_names_the_nodes(spark: SparkSession) -> None:
    with (
        pytest.raises(FeedStalled, match=r"node 0 on .* has received .* rows and consumed 0"),
        Cluster(never_read, nodes=1, feed=True) as cluster,
    ):
        cluster.train(spark.sparkContext.parallelize([0], 1).mapPartitions(EndlessRows()), feed_timeout=2)
    record = RunReader(Project.open(), cluster.run_id).record()
    assert (record.state, "FeedStalled" in str(record.error)) == (RunState.FAILED, True)


def test_a_failure_to_compute_the_rows_is_told_as_such(spark: SparkSession) -> None:
    with (
        pytest.raises(FeedJobFailed, match="modulo by zero"),
        Cluster(sum_ids, nodes=1, feed=True) as cluster,
    ):
        cluster.train(spark.sparkContext.parallelize([0], 1).map(lambda number: 1 // number))


def test_a_wrong_number_of_results_names_the_batch(spark: SparkSession) -> None:
    cluster = Cluster(answer_too_little, nodes=1, feed=True).start()
    with pytest.raises(Exception, match=r"node 0 \(chief\) on .* failed|has ended"):
        cluster.inference(spark.sparkContext.parallelize(range(100), 1)).collect()
    with pytest.raises(NodeFailed, match=r"batch 1 \(partition 0\) has 64 rows but got 63 results"):
        cluster.shutdown()


def test_the_error_of_an_action_is_what_the_node_died_of_without_the_way_through_java(
    spark: SparkSession,
) -> None:
    with pytest.raises(NodeFailed) as caught, Cluster(answer_too_little, feed=True) as cluster:
        cluster.inference(spark.sparkContext.parallelize(range(100), 1)).collect()
    assert (
        str(caught.value).splitlines()[0].endswith("has 64 rows but got 63 results; give one for each row.")
    )
    printed = "".join(traceback.format_exception(caught.value))
    assert "cluster.inference(spark.sparkContext" in printed  # where it was asked for
    assert "pyspark" not in printed
    assert "Py4J" not in printed
    assert "org.apache" not in printed
    assert len(printed.splitlines()) <= 30


def test_what_cannot_be_fed_is_refused(spark: SparkSession) -> None:
    with Cluster(sum_ids, nodes=1, feed=True) as cluster:
        with pytest.raises(BadArguments, match="list is not a DataFrame or RDD of Spark"):
            cluster.train([1, 2])
        with pytest.raises(BadArguments, match="need a schema"):
            cluster.inference(spark.range(3))
    with Cluster(wait_for_nothing, nodes=1) as unfed, pytest.raises(NotFed, match="feed=True"):
        unfed.train(spark.range(3))


def wait_for_nothing(ctx: NodeContext) -> None:
    with pytest.raises(NotFed, match="feed=True"):
        ctx.feed()


def ids_by_epoch(ctx: NodeContext) -> tuple[list[list[int]], list[list[int]]]:
    """Returns the rows of each epoch, and those to validate with after it."""
    feed, held = ctx.feed(), ctx.feed("validation")
    learnt, validated = [], []
    for epoch in feed.epochs():
        learnt.append([row for arrays in epoch.as_numpy(64) for row in arrays["id"].tolist()])
        validated.append([row for arrays in held.as_numpy(64) for row in arrays["id"].tolist()])
    return learnt, validated


def three_ways(spark: SparkSession) -> dict[str, tuple[Any, Any]]:
    frame = spark.range(1_000)
    marked = frame.selectExpr("id", "IF(id = 5, NULL, id % 10 = 0) AS held")
    return {
        "frame": (frame.where("id >= 100"), frame.where("id < 100")),
        "part": (frame, 0.1),
        "column": (marked, "held"),
    }


@pytest.mark.parametrize("way", ["frame", "part", "column"])
def test_each_epoch_is_validated_with_rows_that_are_not_learnt(spark: SparkSession, way: str) -> None:
    data, validation = three_ways(spark)[way]
    with Cluster(ids_by_epoch, nodes=2, feed=True) as cluster:
        cluster.train(data, epochs=2, validation=validation)
        nodes = cluster.shutdown().values
    held = sorted(nodes[0][1][0])
    assert 50 < len(held) < 150
    for _, validated in nodes:  # all of them on every node, after every epoch
        assert [sorted(rows) for rows in validated] == [held, held]
    for epoch in range(2):
        assert sorted(nodes[0][0][epoch] + nodes[1][0][epoch] + held) == list(range(1_000))


def columns_to_learn_and_validate(ctx: NodeContext) -> tuple[dict[str, str], dict[str, str]]:
    (learnt,) = ctx.feed().as_numpy(100)
    (validated,) = ctx.feed("validation").as_numpy(100)
    return tuple({name: str(array.dtype) for name, array in arrays.items()} for arrays in (learnt, validated))


def test_rows_to_validate_with_may_have_more_columns_and_decimals_of_other_digits(
    spark: SparkSession,
) -> None:
    data = spark.range(9).selectExpr("id", "CAST(id AS decimal(4,1)) AS price")
    validation = spark.range(3).selectExpr("CAST(id AS decimal(9,2)) AS price", "id", "'a' AS shop")
    with Cluster(columns_to_learn_and_validate, feed=True) as cluster:
        cluster.train(data, validation=validation)
        learnt, validated = cluster.shutdown().value
    assert learnt == {"id": "int64", "price": "float64"}
    assert validated == {**learnt, "shop": "object"}


def read_nothing(ctx: NodeContext) -> int:
    return ctx.rank


def read_five_rows(ctx: NodeContext) -> int:
    return len(ctx.feed().next_batch(5))


def leave_by_exit(ctx: NodeContext) -> None:
    ctx.feed().next_batch(5)
    sys.exit(0)


def read_one_epoch(ctx: NodeContext) -> int:
    return sum(len(arrays["id"]) for arrays in ctx.feed().as_numpy(64))


@pytest.mark.parametrize(
    ("function", "left"),
    [
        (read_nothing, "after 0 rows of its feed and left all of it unread"),
        (read_five_rows, "after 5 rows of its feed and left .* rows unread"),
        (leave_by_exit, "after 5 rows of its feed and left .* rows unread"),
        (read_one_epoch, "left 2 epochs"),
    ],
)
def test_a_function_that_leaves_rows_unread_fails(spark: SparkSession, function: Any, left: str) -> None:
    epochs = 3 if function is read_one_epoch else 1
    with (
        pytest.raises(NodeFailed, match=left) as caught,
        Cluster(function, nodes=1, feed=True) as cluster,
    ):
        cluster.train(spark.range(1_000), epochs=epochs)
    assert len(caught.traceback) <= 4  # the test, and a few steps of ours


def read_five_rows_and_say_so(ctx: NodeContext) -> int:
    feed = ctx.feed()
    rows = len(feed.next_batch(5))
    feed.terminate()
    return rows


def test_a_function_that_ends_its_feed_is_on_the_account(spark: SparkSession) -> None:
    with Cluster(read_five_rows_and_say_so, nodes=1, feed=True) as cluster:
        (account,) = cluster.train(spark.range(1_000), epochs=3)
        assert cluster.shutdown().value == 5
    assert account.ended_by == (0,)


def read_five_rows_and_say_so_when_all_are_fed(ctx: NodeContext) -> int:
    feed = ctx.feed()
    rows = len(feed.next_batch(5))
    wait_until(lambda: ctx.project.exists(WORD), "the test says the word", 120)
    if ctx.rank == 1:
        return rows + sum(len(batch) for batch in feed)
    feed.terminate()
    return rows


def test_a_node_that_ends_its_feed_after_all_rows_have_come_is_on_record(spark: SparkSession) -> None:
    project = Project.open()
    with Cluster(read_five_rows_and_say_so_when_all_are_fed, nodes=2, feed=True) as cluster:
        accounts = cluster.train(spark.range(0, 1_000, 1, 4), epochs=2)
        say_the_word(project)
        assert cluster.shutdown().values[0] == 5
    assert [account.ended_by for account in accounts] == [(), ()]  # nobody had, when train() returned
    reader = RunReader(project, cluster.run_id)
    feeds: Any = reader.record().details["feeds"]
    assert [each["ended_by"] for each in feeds] == [[0], [0]]
    for epoch in (0, 1):
        stored = json.loads(project.read(run_paths(project, reader.record().id).feed(0, epoch)))
        assert (stored["ended_by"], stored["rows"]) == ([0], 1_000)


def rows_in_step(ctx: NodeContext) -> list[int]:
    epochs = ctx.feed(uneven="drop").epochs()
    return [sum(len(batch["id"]) for batch in epoch.as_numpy(32)) for epoch in epochs]


def test_rows_that_are_left_out_to_keep_step_are_on_record_by_node(spark: SparkSession) -> None:
    with Cluster(rows_in_step, nodes=2, feed=True) as cluster:
        accounts = cluster.train(spark.range(0, 1_001, 1, 4), epochs=2)
        used = cluster.shutdown().values
    feeds: Any = RunReader(Project.open(), cluster.run_id).record().details["feeds"]
    for epoch, (account, kept) in enumerate(zip(accounts, feeds, strict=True)):
        unused = {rank: rows - used[rank][epoch] for rank, rows in account.by_node.items()}
        assert kept["left_out"] == {str(rank): rows for rank, rows in unused.items() if rows}
        assert kept["left_out"]
        assert not hasattr(account, "left_out")  # which nobody knows yet when train() returns


def test_nodes_that_have_read_all_are_not_on_record_as_ended_early(spark: SparkSession) -> None:
    with Cluster(ids_of_each_epoch, nodes=2, feed=True) as cluster:
        cluster.train(spark.range(0, 1_000, 1, 4), epochs=2)
        cluster.shutdown()
    feeds: Any = RunReader(Project.open(), cluster.run_id).record().details["feeds"]
    assert [each["ended_by"] for each in feeds] == [[], []]


def ids_of_each_epoch(ctx: NodeContext) -> int:
    rows = ctx.feed().as_numpy(64)
    return sum(len(arrays["id"]) for _ in range(2) for arrays in rows)


NO_VALIDATION = {
    "frame": (lambda frame: frame.where("id < 0"), "the DataFrame given as validation has no rows"),
    "part": (lambda _: 0.000_001, "validation=1e-06 leaves no rows to validate with; give more"),
    "column": (
        lambda _: "none",
        "validation='none' leaves no rows to validate with: that column is true in no",
    ),
    "most": (lambda _: 0.999_999, "validation=0.999999 leaves no rows to train on"),
    "all": (lambda _: "every", "validation='every' leaves no rows to train on"),
}


@pytest.mark.parametrize("way", NO_VALIDATION)
def test_a_validation_that_leaves_no_rows_is_refused(spark: SparkSession, way: str) -> None:
    validation, what = NO_VALIDATION[way]
    frame = spark.range(0, 20, 1, 2).selectExpr("id", "false AS none", "true AS every")
    with Cluster(ids_by_epoch, nodes=1, feed=True) as cluster, pytest.raises(BadArguments, match=what):
        cluster.train(frame, epochs=2, validation=validation(frame))
    record = RunReader(Project.open(), cluster.run_id).record()
    assert (record.state, what in str(record.error)) == (RunState.FAILED, True)


def test_the_example_learns_a_line_and_predicts_with_it(spark: SparkSession) -> None:
    example = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "feed.py"))
    frame = spark.range(5_000).selectExpr("rand(1) * 2 - 1 AS x").selectExpr("x", "3 * x + 1 AS y")
    with Cluster(example["train"], {"rate": 0.3}, nodes=2, feed=True) as cluster:
        cluster.train(frame, epochs=5, shuffle_seed=1)
        lines = cluster.shutdown().values
    assert all(abs(slope - 3) < 0.2 and abs(offset - 1) < 0.2 for slope, offset in lines)
    with Cluster(example["predict"], nodes=2, feed=True) as cluster:
        predicted = cluster.inference(frame, schema="prediction double").collect()
    assert len(predicted) == 5_000
    assert max(row.prediction for row in predicted) == pytest.approx(4, abs=0.4)


def fail_once_after_the_feed(ctx: NodeContext) -> tuple[int, int]:
    rows = 0
    feed = ctx.feed()
    while len(batch := feed.next_batch(100)):
        rows += len(batch)
    if ctx.attempt == 0:
        raise ArithmeticError("could not export the model")
    return ctx.attempt, rows


def test_nodes_that_start_again_after_the_feed_do_not_wait_for_rows(spark: SparkSession) -> None:
    with Cluster(fail_once_after_the_feed, nodes=2, feed=True, max_restarts=1) as cluster:
        cluster.train(spark.range(500))
        assert cluster.shutdown(timeout=60).values == ((1, 0), (1, 0))
