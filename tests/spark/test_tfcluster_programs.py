"""Programs as the documents of TensorFlowOnSpark show them, on executors and TensorFlow 2."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tensorflowonspark import TFCluster, TFParallel

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.tensorflow, pytest.mark.timeout(300)]


def add(args: dict[str, int], ctx: Any) -> None:
    import tensorflow as tf

    total = tf.math.add(tf.constant(args["x"]), tf.constant(args["y"]))
    assert total.numpy() == 3


def fit_a_line(args: argparse.Namespace, ctx: Any) -> None:
    """Synchronous training: each worker has another shard, and all end with the same weights."""
    import tensorflow as tf

    from tensorflowonspark import compat

    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    with strategy.scope():
        weight = tf.Variable(0.0)
    x = tf.range(1.0, 9.0)
    options = tf.data.Options()
    compat.disable_auto_shard(options)
    rows = tf.data.Dataset.from_tensor_slices((x, args.slope * x)).with_options(options)
    rows = rows.shard(ctx.num_workers, ctx.worker_num).batch(4).repeat(args.epochs)

    @tf.function
    def step(inputs, outputs):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((weight * inputs - outputs) ** 2)
        (gradient,) = tape.gradient(loss, [weight])
        replicas = tf.distribute.get_replica_context()
        weight.assign_sub(args.rate * replicas.all_reduce(tf.distribute.ReduceOp.MEAN, gradient))

    for inputs, outputs in rows:
        strategy.run(step, args=(inputs, outputs))

    class Line(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def __call__(self, inputs):
            return weight * inputs

    line = Line()
    line.weight = weight
    compat.export_saved_model(line, ctx.absolute_path(args.export_dir), ctx.job_name == "chief")
    Path(args.output, f"{ctx.job_name}.json").write_text(json.dumps(float(weight.numpy())))


def serve_or_train(args: argparse.Namespace, ctx: Any) -> None:
    """Asynchronous training in the style of TensorFlow 1: variables live on the parameter server."""
    import tensorflow as tf

    from tensorflowonspark import TFNode

    cluster, server = TFNode.start_cluster_server(ctx, 1)
    if ctx.job_name == "ps":
        server.join()
        return
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        device = v1.train.replica_device_setter(
            worker_device=f"/job:worker/task:{ctx.task_index}", cluster=cluster
        )
        with v1.device(device):
            steps = v1.train.get_or_create_global_step()
            weight = v1.get_variable("weight", initializer=0.0, use_resource=True)
            loss = (weight - args.slope) ** 2
            train = v1.train.GradientDescentOptimizer(args.rate).minimize(loss, global_step=steps)
        hooks = [v1.train.StopAtStepHook(last_step=args.epochs)]
        with v1.train.MonitoredTrainingSession(
            master=server.target, is_chief=ctx.task_index == 0, hooks=hooks
        ) as session:
            value = 0.0
            while not session.should_stop():
                _, value = session.run([train, weight])
    Path(args.output, f"{weight.device}".replace("/", "_")).write_text(json.dumps(float(value)))


def train_or_evaluate(args: argparse.Namespace, ctx: Any) -> None:
    """A worker writes checkpoints, an evaluator reads the last of them."""
    import time

    import tensorflow as tf

    folder = ctx.absolute_path(args.model_dir).removeprefix("file://")
    step = tf.Variable(0, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(step=step)
    if ctx.job_name == "evaluator":
        while step.numpy() < args.epochs:
            time.sleep(0.05)
            # a CheckpointManager would know only those that were there when it was made
            if (latest := tf.train.latest_checkpoint(folder)) is not None:
                checkpoint.restore(latest)
        Path(args.output, "evaluated").write_text(str(step.numpy()))
        return
    manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=None)
    for _ in range(args.epochs):
        step.assign_add(1)
        manager.save()


@pytest.fixture
def args(tmp_path: Path) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--slope", type=float, default=3.0)
    parser.add_argument("--rate", type=float, default=0.02)
    parser.add_argument("--output", default=str(tmp_path))
    parser.add_argument("--export_dir", default=str(tmp_path / "export"))
    parser.add_argument("--model_dir", default=str(tmp_path / "model"))
    return parser.parse_args([])


def test_tensorflow_runs_on_every_node(spark: SparkSession) -> None:
    cluster = TFCluster.run(spark.sparkContext, add, tf_args={"x": 1, "y": 2}, num_executors=2, num_ps=0)
    cluster.shutdown()


def test_tensorflow_runs_on_independent_nodes(spark: SparkSession) -> None:
    TFParallel.run(spark.sparkContext, add, tf_args={"x": 1, "y": 2}, num_executors=2)


def test_workers_train_together_and_the_chief_exports_the_model(
    spark: SparkSession, args: argparse.Namespace
) -> None:
    import tensorflow as tf

    cluster = TFCluster.run(
        spark.sparkContext,
        fit_a_line,
        args,
        2,
        num_ps=0,
        input_mode=TFCluster.InputMode.TENSORFLOW,
        master_node="chief",
    )
    cluster.shutdown()
    weights = [json.loads(Path(args.output, f"{job}.json").read_text()) for job in ("chief", "worker")]
    assert weights[0] == weights[1] == pytest.approx(3.0, abs=0.01)
    assert tf.saved_model.load(args.export_dir)(tf.constant([2.0])).numpy() == pytest.approx(2 * weights[0])


def test_worker_trains_variables_of_a_parameter_server(spark: SparkSession, args: argparse.Namespace) -> None:
    args.rate = 0.1
    cluster = TFCluster.run(spark.sparkContext, serve_or_train, args, 2, 1)
    cluster.shutdown()
    (file,) = Path(args.output).glob("*ps*")
    assert json.loads(file.read_text()) == pytest.approx(3.0, abs=0.01)


def test_evaluator_has_time_to_read_the_last_checkpoint(
    spark: SparkSession, args: argparse.Namespace
) -> None:
    cluster = TFCluster.run(
        spark.sparkContext, train_or_evaluate, args, 2, 0, master_node="chief", eval_node=True
    )
    cluster.shutdown(grace_secs=60)
    assert Path(args.output, "evaluated").read_text() == "40"
