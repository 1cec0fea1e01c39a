"""The real JAX reads its share of a GPU's memory from the variables that a node gets."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from hopyard.worker.gpus.memory import memory_variables

pytestmark = pytest.mark.jax

PROGRAM = """
from jaxlib import xla_client
print(xla_client.generate_pjrt_gpu_plugin_options()["memory_fraction"])
"""


@pytest.mark.parametrize("before", [{}, {"XLA_CLIENT_MEM_FRACTION": "0.9"}], ids=["unset", "set"])
def test_jax_takes_the_fraction_for_its_gpu_client(before):
    environ = {**os.environ, **before}
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environ | memory_variables(0.25, environ),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == "0.25\n"
