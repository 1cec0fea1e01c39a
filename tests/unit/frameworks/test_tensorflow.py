from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from hopyard.frameworks.base import GpuShare
from hopyard.frameworks.tensorflow import TensorFlow
from hopyard.protocol.cluster_map import ClusterMap
from hopyard.protocol.plan import Plan

pytestmark = pytest.mark.unit

PLAN = Plan.of(5, ps=1, evaluator=True)
CLUSTER = ClusterMap.of({node: f"10.0.0.{node.rank}:{8000 + node.rank}" for node in PLAN.nodes})
SHARE = GpuShare(fraction=0.5, environ={}, memory_mib=lambda: 16384)


def config(rank: int) -> Any:
    return json.loads(TensorFlow().variables(PLAN.nodes[rank], CLUSTER)["TF_CONFIG"])


@pytest.mark.parametrize(("rank", "kind", "index"), [(0, "chief", 0), (2, "worker", 1), (3, "ps", 0)])
def test_tensorflow_is_told_of_the_cluster_and_of_the_task(rank: int, kind: str, index: int) -> None:
    assert config(rank)["task"] == {"type": kind, "index": index}
    assert config(rank)["cluster"] == {
        "chief": ["10.0.0.0:8000"],
        "worker": ["10.0.0.1:8001", "10.0.0.2:8002"],
        "ps": ["10.0.0.3:8003"],
    }


def test_the_evaluator_is_no_part_of_the_cluster_that_it_evaluates() -> None:
    assert config(4)["task"] == {"type": "evaluator", "index": 0}
    assert config(4)["cluster"]["evaluator"] == ["10.0.0.4:8004"]  # its own strategy looks for it
    assert "evaluator" not in config(0)["cluster"]


def test_tensorflow_in_processes_that_the_node_starts_does_not_take_all_memory_at_once() -> None:
    assert TensorFlow().memory_variables(SHARE) == {"TF_FORCE_GPU_ALLOW_GROWTH": "true"}


def test_tensorflow_without_a_gpu_has_nothing_to_limit() -> None:
    without = SimpleNamespace(config=SimpleNamespace(list_physical_devices=lambda kind: []))
    TensorFlow().limit_memory(without, SHARE)


@pytest.mark.parametrize("module", ["tensorflow", "keras._tf_keras.keras"])
def test_estimators_are_told_of_the_last_tensorflow_that_has_them(module: str) -> None:
    error = AttributeError(f"module {module!r} has no attribute 'estimator'")
    told = TensorFlow().explain(error, SimpleNamespace(__version__="2.21.0"), ())
    assert told is error
    (note,) = told.__notes__
    assert note.startswith("TensorFlow 2.21.0 has no tf.estimator any more; 2.15 is the last release")


OLD_PARTS = SimpleNamespace(placeholder=1, app=1, train=SimpleNamespace(AdamOptimizer=1))


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        (
            "module 'tensorflow' has no attribute 'placeholder'",
            "import tensorflow.compat.v1 as tf; tf.disable_v2",
        ),
        ("module 'tensorflow' has no attribute 'app'", "import tensorflow.compat.v1 as tf"),
        (
            "module 'tensorflow._api.v2.train' has no attribute 'AdamOptimizer'",
            "import tensorflow.compat.v1 as tf",
        ),
        ("module 'tensorflow' has no attribute 'contrib'", "tf.contrib ended with TensorFlow 1"),
        ("No module named 'tensorflow.contrib'", "tf.contrib ended with TensorFlow 1"),
        ("No module named 'tensorflow.examples'", "tf.keras.datasets.mnist.load_data()"),
        ("Keras cannot be imported. Check that it is installed.", "pip install tf_keras, in the version of"),
        ("'Sequential' object has no attribute 'predict_classes'", "model.predict(x).argmax(axis=-1)"),
    ],
)
def test_programs_for_older_releases_are_told_what_to_write(text: str, advice: str) -> None:
    tensorflow = SimpleNamespace(__version__="2.21.0", compat=SimpleNamespace(v1=OLD_PARTS))
    (note,) = TensorFlow().explain(AttributeError(text), tensorflow, ()).__notes__
    assert advice in note


@pytest.mark.parametrize("name", ["foo", "train.Foo"])
def test_what_no_release_had_is_not_said_to_be_of_an_older_one(name: str) -> None:
    part, _, missing = name.rpartition(".")
    module = f"tensorflow._api.v2.{part}" if part else "tensorflow"
    tensorflow = SimpleNamespace(__version__="2.21.0", compat=SimpleNamespace(v1=OLD_PARTS))
    error = AttributeError(f"module {module!r} has no attribute {missing!r}")
    assert not hasattr(TensorFlow().explain(error, tensorflow, ()), "__notes__")


def test_a_tensorflow_that_is_still_being_imported_explains_nothing() -> None:
    error = AttributeError("module 'tensorflow' has no attribute 'estimator'")
    TensorFlow().explain(error, SimpleNamespace(), ())
    assert not hasattr(error, "__notes__")
