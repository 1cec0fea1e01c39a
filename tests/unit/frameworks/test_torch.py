from __future__ import annotations

from importlib import metadata
from types import SimpleNamespace

import pytest

from hopyard.frameworks.base import GpuShare
from hopyard.frameworks.torch import Torch

pytestmark = pytest.mark.unit


def version_of_torch() -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in metadata.version("torch").split(".")[:2])
    except metadata.PackageNotFoundError:
        return ()


needs_torch_that_reads_the_environment = pytest.mark.skipif(
    version_of_torch() < (2, 13), reason="no PyTorch is installed, or it is limited by a call"
)


def share(fraction: float = 0.25, **environ: str) -> GpuShare:
    return GpuShare(fraction=fraction, environ=environ, memory_mib=lambda: 16384)


def torch_with_a_gpu(calls: list[tuple[float, int]]) -> SimpleNamespace:
    """Stands in for PyTorch on a machine with a GPU."""
    limit = lambda *limit: calls.append(limit)  # noqa: E731
    return SimpleNamespace(
        cuda=SimpleNamespace(is_available=lambda: True, set_per_process_memory_fraction=limit)
    )


@needs_torch_that_reads_the_environment
def test_torch_finds_its_limit_in_the_environment() -> None:
    limit = "per_process_memory_fraction:0.25"
    assert Torch().memory_variables(share()) == {"PYTORCH_ALLOC_CONF": limit}


@needs_torch_that_reads_the_environment
@pytest.mark.parametrize("name", ["PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"])
def test_settings_of_the_user_for_torch_are_kept(name: str) -> None:
    before = {name: "expandable_segments:True,per_process_memory_fraction:0.9"}
    variables = Torch().memory_variables(share(**before))
    assert variables == {name: "expandable_segments:True,per_process_memory_fraction:0.25"}


def test_torch_that_does_not_read_the_environment_is_limited_by_a_call() -> None:
    calls: list[tuple[float, int]] = []
    Torch().limit_memory(torch_with_a_gpu(calls), share(0.5, PYTORCH_ALLOC_CONF="expandable_segments:True"))
    assert calls == [(0.5, 0)]


def test_torch_that_has_its_limit_is_not_made_to_start_the_gpu() -> None:
    calls: list[tuple[float, int]] = []
    environ = {"PYTORCH_ALLOC_CONF": "per_process_memory_fraction:0.5"}
    Torch().limit_memory(torch_with_a_gpu(calls), share(0.5, **environ))
    assert calls == []
