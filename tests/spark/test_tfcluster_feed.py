"""Programs of TensorFlowOnSpark whose data Spark feeds, on two executors of one core."""

from __future__ import annotations

import argparse
import itertools
import json
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from hopyard.errors import FeedStalled, NodeFailed, NotFed
from tensorflowonspark import TFCluster, TFNode

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(180)]


def square(args: Any, ctx: Any) -> None:
    feed = ctx.get_data_feed(train_mode=False)
    while not feed.should_stop():
        batch = feed.next_batch(10)
        if len(batch) > 0:
            feed.batch_results(np.square(batch))


def square_and_fail(args: Any, ctx: Any) -> None:
    feed = TFNode.DataFeed(ctx.mgr, False)
    while not feed.should_stop():
        batch = feed.next_batch(10)
        if len(batch) > 0:
            feed.batch_results(np.square(batch))
            raise ValueError("no such picture")


def square_and_fail_late(args: Any, ctx: Any) -> None:
    square(args, ctx)
    raise ValueError("export failed")


def note(args: argparse.Namespace, ctx: Any) -> None:
    """Leaves all rows that came, as text, in a file of the node."""
    feed = TFNode.DataFeed(ctx.mgr)
    rows: list[str] = []
    while not feed.should_stop():
        rows.extend(map(repr, feed.next_batch(args.batch_size)))
    Path(args.output, f"{ctx.executor_id}.json").write_text(json.dumps(rows))


def note_columns(args: argparse.Namespace, ctx: Any) -> None:
    feed = ctx.get_data_feed(input_mapping={"name": "text", "age": "number"})
    columns: dict[str, list] = {"text": [], "number": []}
    while not feed.should_stop():
        for tensor, values in feed.next_batch(2).items():
            columns[tensor].extend(values)
    Path(args.output, f"{ctx.executor_id}.json").write_text(json.dumps(columns))


def note_or_serve(args: argparse.Namespace, ctx: Any) -> None:
    if ctx.job_name == "ps":
        while True:
            time.sleep(1)  # as server.join() does
    note(args, ctx)


def take_three_batches(args: argparse.Namespace, ctx: Any) -> None:
    feed = TFNode.DataFeed(ctx.mgr)
    for _ in range(3):
        feed.next_batch(10)
    feed.terminate()
    Path(args.output, f"{ctx.executor_id}.json").write_text(json.dumps(str(ctx.mgr.get("state"))))


def fail_in_a_batch(args: Any, ctx: Any) -> None:
    feed = TFNode.DataFeed(ctx.mgr)
    feed.next_batch(10)
    raise ValueError("no such picture")


def read_and_fail_late(args: Any, ctx: Any) -> None:
    feed = TFNode.DataFeed(ctx.mgr)
    while not feed.should_stop():
        feed.next_batch(10)
    raise ValueError("export failed")


def read_nothing(args: Any, ctx: Any) -> None:
    time.sleep(600)


def take_one_row(args: object, ctx: Any) -> None:
    ctx.get_data_feed().next_batch(1)


def without_end(numbers: Iterable[int]) -> Iterator[int]:
    return itertools.chain(numbers, itertools.count())


@pytest.fixture
def sc(spark: SparkSession) -> SparkContext:
    return spark.sparkContext


@pytest.fixture
def args(tmp_path: Path) -> argparse.Namespace:
    folder = tmp_path / "output"
    folder.mkdir()
    return argparse.Namespace(output=str(folder), batch_size=7)


def fed(sc: SparkContext, map_fun: Any, args: object, **options: Any) -> TFCluster.TFCluster:
    arguments = {"num_executors": 2, "num_ps": 0, "input_mode": TFCluster.InputMode.SPARK, **options}
    return TFCluster.run(sc, map_fun, args, **arguments)


def noted(args: argparse.Namespace) -> list[Any]:
    return [json.loads(file.read_text()) for file in sorted(Path(args.output).glob("*.json"))]


def rows(args: argparse.Namespace) -> list[str]:
    return sorted(row for each in noted(args) for row in each)


def test_results_of_all_rows_come_back(sc: SparkContext) -> None:
    numbers = sc.parallelize([[x] for x in range(1000)], 10)
    cluster = fed(sc, square, {})
    squares = cluster.inference(numbers)
    assert squares.map(lambda row: int(row[0])).sum() == sum(x * x for x in range(1000))
    assert [int(row[0]) for row in squares.collect()] == [x * x for x in range(1000)]
    cluster.shutdown()


def test_rows_are_fed_as_often_as_there_are_epochs(sc: SparkContext, args) -> None:
    cluster = fed(sc, note, args, master_node="chief")
    cluster.train(sc.parallelize(range(100), 4), num_epochs=3)
    cluster.shutdown()
    assert rows(args) == sorted([*map(repr, range(100))] * 3)
    assert len(noted(args)) == 2


def test_several_rdds_are_fed_in_turn(sc: SparkContext, args) -> None:
    cluster = fed(sc, note, args)
    cluster.train(sc.parallelize(range(10), 2), 1)
    cluster.train(sc.parallelize(["a", "b", "c"], 3), 1)
    cluster.shutdown()
    assert rows(args) == sorted([*map(repr, range(10)), "'a'", "'b'", "'c'"])


def test_rows_of_a_frame_come_as_rows(spark: SparkSession, args) -> None:
    frame = spark.createDataFrame([("ann", 3), ("bob", 5)], "name string, age int")
    cluster = fed(spark.sparkContext, note, args)
    cluster.train(frame, 1)
    cluster.shutdown()
    assert rows(args) == ["Row(name='ann', age=3)", "Row(name='bob', age=5)"]


def test_columns_come_under_the_names_of_tensors(spark: SparkSession, args) -> None:
    frame = spark.createDataFrame([("ann", 3), ("bob", 5), ("eve", 7)], "name string, age int")
    cluster = fed(spark.sparkContext, note_columns, args)
    cluster.train(frame.select("age", "name").rdd, 1)
    cluster.shutdown()
    pairs = [pair for node in noted(args) for pair in zip(node["text"], node["number"], strict=True)]
    assert sorted(pairs) == [("ann", 3), ("bob", 5), ("eve", 7)]


def test_parameter_servers_are_not_fed(sc: SparkContext, args) -> None:
    cluster = fed(sc, note_or_serve, args, num_ps=1)
    cluster.train(sc.parallelize(range(20), 2), 1)
    cluster.shutdown()
    assert [len(each) for each in noted(args)] == [20]


def test_a_function_that_has_enough_ends_the_feed(sc: SparkContext, args) -> None:
    cluster = fed(sc, take_three_batches, args)
    began = time.monotonic()
    cluster.train(sc.parallelize(range(2), 2).mapPartitions(without_end), 1)
    assert time.monotonic() - began < 60
    cluster.shutdown()
    assert noted(args) == ["'terminating'"] * 2


def test_an_exception_while_feeding_is_raised_by_train_and_again_by_shutdown(sc: SparkContext) -> None:
    cluster = fed(sc, fail_in_a_batch, {})
    with pytest.raises(NodeFailed, match="no such picture") as failed:
        cluster.train(sc.parallelize(range(2), 2).mapPartitions(without_end), 1)
    assert 'raise ValueError("no such picture")' in failed.value.trace
    with pytest.raises(NodeFailed, match="no such picture"):
        cluster.shutdown()
    assert sc.parallelize(range(3)).sum() == 3


def test_an_exception_after_the_feed_is_raised_by_shutdown(sc: SparkContext) -> None:
    cluster = fed(sc, read_and_fail_late, {})
    cluster.train(sc.parallelize(range(100), 2), 1)
    for _ in range(2):
        with pytest.raises(NodeFailed, match="export failed"):
            cluster.shutdown(grace_secs=5)


def test_an_exception_in_inference_fails_the_action_and_is_raised_by_shutdown(sc: SparkContext) -> None:
    cluster = fed(sc, square_and_fail, {})
    results = cluster.inference(sc.parallelize([[x] for x in range(1000)], 10))
    with pytest.raises(Exception, match=r"no such picture|feed"):
        results.count()
    with pytest.raises(NodeFailed, match="no such picture"):
        cluster.shutdown()


def test_results_that_are_first_used_after_shutdown_say_to_use_them_before(sc: SparkContext) -> None:
    cluster = fed(sc, square, {})
    results = cluster.inference(sc.parallelize([[1], [2]], 2))
    cluster.shutdown()
    with pytest.raises(
        Exception, match=r"results are computed when they are used, so use them before shutdown\(\)"
    ):
        results.count()


def test_a_function_that_returns_too_early_is_told_of_the_old_feed(sc: SparkContext) -> None:
    cluster = fed(sc, take_one_row, {})
    with pytest.raises(NodeFailed, match=r"or call tf_feed\.terminate\(\)"):
        cluster.train(sc.parallelize(range(1000), 2), 1)


def test_an_exception_after_inference_is_raised_by_shutdown(sc: SparkContext) -> None:
    cluster = fed(sc, square_and_fail_late, {})
    assert cluster.inference(sc.parallelize([[x] for x in range(100)], 4)).count() == 100
    with pytest.raises(NodeFailed, match="export failed"):
        cluster.shutdown(grace_secs=5)


def test_a_function_that_reads_nothing_is_told_of_after_the_timeout(sc: SparkContext) -> None:
    cluster = fed(sc, read_nothing, {})
    with pytest.raises(FeedStalled, match="for 3 s"):
        cluster.train(sc.parallelize(range(2), 2).mapPartitions(without_end), 1, feed_timeout=3)


def test_a_cluster_that_reads_its_own_data_cannot_be_fed(sc: SparkContext, args) -> None:
    cluster = TFCluster.run(sc, lambda args, ctx: None, {}, 2, 0)
    with pytest.raises(NotFed, match=r"InputMode\.SPARK"):
        cluster.train(sc.parallelize(range(4)))
    with pytest.raises(NotFed, match=r"InputMode\.SPARK"):
        cluster.inference(sc.parallelize(range(4)))
    cluster.shutdown()
