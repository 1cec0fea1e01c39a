"""Nodes that are fed by the same run and learn without each other: that is told, in one line and only then."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import pytest

from hopyard import Cluster, NodeContext
from hopyard.tracking import load_run

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]

LINE = (
    "each of the 2 nodes has trained a model of its own: no strategy of TensorFlow and no torch.distributed joined them. "
    "If they were to train one model together, see https://github.com/hopyard/hopyard/blob/main/docs/distributed.md"
)


def read_torch(ctx: NodeContext, uneven: str | None = None) -> None:
    for epoch in ctx.feed(uneven=uneven).epochs():
        for batch in epoch.as_torch_dataset(5):
            assert len(batch["id"])


def read_torch_in_step(ctx: NodeContext) -> None:
    read_torch(ctx, uneven="drop")


def read_torch_with_ddp(ctx: NodeContext) -> None:
    import torch.distributed as dist

    address = f"tcp://{ctx.info.cluster['chief'][0]}"
    dist.init_process_group("gloo", init_method=address, rank=ctx.rank, world_size=ctx.size)
    read_torch(ctx)
    dist.destroy_process_group()


def read_torch_and_the_addresses(ctx: NodeContext) -> None:
    assert len(ctx.cluster) == 2
    read_torch(ctx)


def read_numpy(ctx: NodeContext) -> None:
    for epoch in ctx.feed().epochs():
        assert all(len(batch["id"]) for batch in epoch.as_numpy(5))


def answer_torch(ctx: NodeContext) -> None:
    feed = ctx.feed()
    for batch in feed.as_torch_dataset(5):
        feed.batch_results({"twice": 2 * batch["id"].numpy()})


def read_tensorflow(ctx: NodeContext) -> None:
    for _ in ctx.feed().as_tf_dataset(5):
        continue


def read_tensorflow_with_a_strategy(ctx: NodeContext) -> None:
    import tensorflow as tf

    tf.distribute.MultiWorkerMirroredStrategy()
    read_tensorflow(ctx)


def told(
    function: Callable[..., Any], spark: SparkSession, log: pytest.LogCaptureFixture, *, nodes: int = 2
) -> tuple[list[str], list[str]]:
    """Returns what the driver logs of it, and the nodes."""
    log.set_level(logging.INFO)
    with Cluster(function, nodes=nodes, feed=True, backend="processes", progress=False) as cluster:
        if function is answer_torch:
            assert cluster.inference(spark.range(0, 40, 1, 4), "twice long").count() == 40
        else:
            cluster.train(spark.range(0, 40, 1, 4), epochs=2 if "torch" in function.__name__ else 1)
        result = cluster.wait()
        cluster.wait()
    run = load_run(result.run_id)
    lines = [
        line for rank in range(nodes) for line in run.log(rank).splitlines() if "model of its own" in line
    ]
    return [text for text in log.messages if "model of its own" in text], lines


@pytest.mark.parametrize(
    "function",
    [
        pytest.param(read_torch, marks=pytest.mark.torch),
        pytest.param(read_tensorflow, marks=pytest.mark.tensorflow),
    ],
)
def test_nodes_that_nothing_joins_are_told_once_and_on_the_driver(
    function: Callable[..., Any], spark: SparkSession, caplog: pytest.LogCaptureFixture
) -> None:
    assert told(function, spark, caplog) == ([LINE], [])


@pytest.mark.parametrize(
    "function",
    [
        read_numpy,
        pytest.param(read_torch_in_step, marks=pytest.mark.torch),
        pytest.param(read_torch_with_ddp, marks=pytest.mark.torch),
        pytest.param(read_torch_and_the_addresses, marks=pytest.mark.torch),
        pytest.param(answer_torch, marks=pytest.mark.torch),
        pytest.param(read_tensorflow_with_a_strategy, marks=pytest.mark.tensorflow),
    ],
)
def test_nothing_is_told_of_nodes_that_may_be_joined_or_do_not_learn(
    function: Callable[..., Any], spark: SparkSession, caplog: pytest.LogCaptureFixture
) -> None:
    assert told(function, spark, caplog) == ([], [])


@pytest.mark.torch
def test_nothing_is_told_of_a_single_node(spark: SparkSession, caplog: pytest.LogCaptureFixture) -> None:
    assert told(read_torch, spark, caplog, nodes=1) == ([], [])
