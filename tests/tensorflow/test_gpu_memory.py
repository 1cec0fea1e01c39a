"""The real TensorFlow imports as ever in a node with a share of a GPU."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from hopyard.worker.gpus.memory import memory_variables

pytestmark = pytest.mark.tensorflow

PROGRAM = """
from hopyard.frameworks.tensorflow import TensorFlow
from hopyard.worker.gpus.memory import prepare

asked = []
limit = TensorFlow.limit_memory
TensorFlow.limit_memory = lambda self, tf, share: (limit(self, tf, share), asked.append(tf.__name__))
prepare()
import tensorflow as tf
print(asked, float(tf.reduce_sum(tf.ones(3))), tf.config.list_logical_devices("GPU"))
"""

NAMES = """
import tensorflow as tf
print(tf.config.LogicalDeviceConfiguration(memory_limit=4096).memory_limit)
print(callable(tf.config.set_logical_device_configuration))
"""


def run(program: str) -> list[str]:
    environ = {
        **os.environ,
        **memory_variables(0.5, {}),
        "CUDA_VISIBLE_DEVICES": "",
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    ended = subprocess.run(
        [sys.executable, "-c", program], env=environ, capture_output=True, text=True, timeout=120
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.splitlines()


def test_tensorflow_is_asked_for_its_gpus_at_import_and_works_without_any():
    assert run(PROGRAM) == ["['tensorflow'] 3.0 []"]


def test_names_by_which_a_gpu_is_limited_exist():
    assert run(NAMES) == ["4096", "True"]
