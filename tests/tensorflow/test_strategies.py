"""TensorFlow's distribution strategies on Spark executors: in functions of these tests, and in the examples."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import hopyard
from hopyard.store import Project
from hopyard.tracking import NodeState, RunReader, RunState, find_run

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.tensorflow, pytest.mark.spark, pytest.mark.timeout(400)]

EXAMPLES = Path(__file__).parents[2] / "examples"
STEPS = 10
PEERS = ["chief", "worker", "worker", "ps"]


def mirrored_loop(steps: int, ctx: hopyard.NodeContext) -> dict[str, Any]:
    """A loop of one's own around a model of Keras 3, each node with its share of the rows; then the same without."""
    import os

    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "1"
    import keras
    import tensorflow as tf

    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    rows = tf.random.stateless_normal([64, 2], seed=(1, 2))
    heights = tf.reduce_sum(rows**2, axis=1, keepdims=True)
    keras.utils.set_random_seed(ctx.rank)  # all begin with the chief's weights nevertheless
    with strategy.scope():
        model = small_model()
    begin = model.get_weights()
    losses = descend(strategy, model, rows[ctx.rank :: ctx.size], heights[ctx.rank :: ctx.size], steps)
    alone = small_model()
    alone.set_weights(begin)
    return {
        "losses": losses,
        "weights": model.get_weights(),
        "alone_losses": descend(tf.distribute.get_strategy(), alone, rows, heights, steps),
        "alone_weights": alone.get_weights(),
        "refusal": refusal(model, tf.data.Dataset.from_tensor_slices((rows, heights)).batch(16)),
    }


def small_model() -> Any:
    import keras

    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(8, "tanh"), keras.layers.Dense(1)])
    model.compile(keras.optimizers.SGD(0.1), "mse")
    model.optimizer.build(model.trainable_variables)
    return model


def descend(strategy: Any, model: Any, rows: Any, heights: Any, steps: int) -> list[float]:
    """Makes steps of gradient descent on rows that are 64 among all replicas, and returns the loss of each."""
    import tensorflow as tf

    def improve() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((model(rows, training=True) - heights) ** 2) / 64
        gradients = tape.gradient(loss, model.trainable_variables)
        model.optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    step = tf.function(lambda: strategy.reduce("SUM", strategy.run(improve), axis=None))
    return [float(step()) for _ in range(steps)]


def refusal(model: Any, data: Any) -> str:
    """Returns what `fit` raises."""
    try:
        model.fit(data, verbose=0)
    except ValueError as error:
        return str(error)
    return ""


@pytest.fixture(scope="module")
def mirrored(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], ...]:
    """What the two nodes of a run returned."""
    project = Project.open(str(tmp_path_factory.mktemp("root")), "mirrored")
    return hopyard.launch(mirrored_loop, {"steps": STEPS}, nodes=2, spark=spark, project=project).values


def test_mirrored_nodes_have_the_same_weights_to_the_bit(mirrored: tuple[dict[str, Any], ...]) -> None:
    chief, worker = ([weight.tobytes() for weight in node["weights"]] for node in mirrored)
    assert chief == worker


def test_mirrored_nodes_learn_as_one_process_with_all_rows(mirrored: tuple[dict[str, Any], ...]) -> None:
    for node in mirrored:
        assert len(node["losses"]) == STEPS
        assert node["losses"][-1] < node["losses"][0] / 2
        np.testing.assert_allclose(node["losses"], node["alone_losses"], rtol=1e-6)
        for weight, expected in zip(node["weights"], node["alone_weights"], strict=True):
            np.testing.assert_allclose(weight, expected, atol=1e-6)


def test_fit_of_keras_3_fails_on_mirrored_nodes_as_documented(mirrored: tuple[dict[str, Any], ...]) -> None:
    for node in mirrored:
        assert node["refusal"].startswith("Attempt to convert a value (PerReplica:{")
        assert node["refusal"].endswith("to a Tensor.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """An example that has run as a script."""

    output: str
    run: RunReader

    def numbers(self, pattern: str) -> tuple[float, ...]:
        match = re.search(pattern, self.output)
        assert match is not None, self.output
        return tuple(float(number) for number in match.groups())

    @property
    def folder(self) -> Path:
        match = re.search(r"^kept in (.+)$", self.output, re.MULTILINE)
        assert match is not None, self.output
        return Path(match[1])

    @property
    def ends(self) -> list[tuple[str, NodeState]]:
        return [(outcome.role, outcome.state) for outcome in self.run.outcomes()]


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Example]:
    """Runs an example by its name."""

    def run(name: str) -> Example:
        root = str(tmp_path_factory.mktemp(name))
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("HOPYARD_ROOT", root)
            patch.setenv("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1")  # the JVMs are short-lived
            done = subprocess.run(
                [sys.executable, str(EXAMPLES / f"{name}.py")],
                capture_output=True,
                text=True,
                timeout=350,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            return Example(output=done.stdout, run=find_run(Project.open(root), "last"))

    return run


@pytest.fixture(scope="module")
def multi_worker(example: Callable[[str], Example]) -> Example:
    return example("multi_worker")


@pytest.fixture(scope="module")
def parameter_server(example: Callable[[str], Example]) -> Example:
    return example("parameter_server")


@pytest.fixture(scope="module")
def parameter_server_fit(example: Callable[[str], Example]) -> Example:
    return example("parameter_server_fit")


def test_fit_of_tf_keras_ends_with_the_same_weights_on_all_mirrored_nodes(multi_worker: Example) -> None:
    assert "weights are the same on both nodes" in multi_worker.output
    (accuracy,) = multi_worker.numbers(r"accuracy (\S+),")
    assert accuracy > 0.8


def test_every_mirrored_node_keeps_a_model(multi_worker: Example) -> None:
    assert (multi_worker.folder / "model.keras").exists()
    assert (multi_worker.folder / "node.1" / "model.keras").exists()


def test_coordinated_steps_are_all_done_and_teach_the_model(parameter_server: Example) -> None:
    steps, first, last = parameter_server.numbers(r"(\d+) steps, loss (\S+) in the first epoch and (\S+) ")
    assert steps == 200
    assert last < first / 1000
    assert [point.step for point in parameter_server.run.metrics("loss")] == [1, 2, 3, 4]


def test_variables_of_a_coordinated_model_are_on_the_parameter_server(parameter_server: Example) -> None:
    assert "variables on /job:ps/replica:0/task:0/device:CPU:0\n" in parameter_server.output


def test_both_workers_do_some_of_the_coordinated_steps(parameter_server: Example) -> None:
    run = parameter_server.run
    counts = [sum(line.startswith("loss ") for line in run.log(rank)) for rank in range(len(PEERS))]
    chief, *workers, server = counts
    assert (chief, sum(workers), server) == (0, 200, 0)
    assert min(workers) > 0


def test_a_coordinated_run_is_finished_when_its_chief_is(parameter_server: Example) -> None:
    assert parameter_server.run.record().state is RunState.FINISHED
    assert parameter_server.ends == [(role, NodeState.FINISHED) for role in PEERS]


def test_fit_of_tf_keras_trains_with_parameter_servers(parameter_server_fit: Example) -> None:
    steps, accuracy = parameter_server_fit.numbers(r"(\d+) steps, accuracy (\S+)\n")
    assert steps == 400
    assert accuracy > 0.8
    assert parameter_server_fit.ends == [(role, NodeState.FINISHED) for role in PEERS]
    assert (parameter_server_fit.folder / "model.keras").exists()
