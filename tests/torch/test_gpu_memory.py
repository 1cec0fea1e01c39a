"""The real PyTorch imports as ever in a node with a share of a GPU."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from hopyard.worker.gpus.memory import memory_variables

pytestmark = pytest.mark.torch

PROGRAM = """
from hopyard.worker.gpus.memory import prepare
prepare()
import torch
print(float(torch.ones(3).sum()), torch.cuda.is_initialized())
"""


@pytest.mark.parametrize("by", ["environment", "call"])
def test_torch_without_a_gpu_works(by):
    variables = memory_variables(0.5, {}) if by == "environment" else {"HOPYARD_GPU_FRACTION": "0.5"}
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, **variables, "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == "3.0 False\n"
