from __future__ import annotations

import pytest

from hopyard.frameworks.base import GpuShare
from hopyard.frameworks.jax import Jax

pytestmark = pytest.mark.unit


def share(**environ: str) -> GpuShare:
    return GpuShare(fraction=0.25, environ=environ, memory_mib=lambda: 16384)


def test_jax_finds_its_limit_in_the_environment() -> None:
    assert Jax().memory_variables(share()) == {"XLA_PYTHON_CLIENT_MEM_FRACTION": "0.25"}


def test_jax_is_never_given_two_limits() -> None:
    variables = Jax().memory_variables(share(XLA_CLIENT_MEM_FRACTION="0.9"))
    assert variables == {"XLA_PYTHON_CLIENT_MEM_FRACTION": "0.25", "XLA_CLIENT_MEM_FRACTION": ""}
