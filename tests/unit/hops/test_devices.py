from __future__ import annotations

from pathlib import Path

import pytest

from hops import devices

pytestmark = pytest.mark.unit


def nvidia_smi(folder: Path, script: str) -> dict[str, str]:
    program = folder / "nvidia-smi"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return {"PATH": str(folder)}


@pytest.mark.parametrize(
    ("visible", "count"),
    [
        ("0", 1),
        ("0,1", 2),
        ("GPU-8932f937,MIG-ab/1/0", 2),
        ("", 0),
        ("-1", 0),
        ("0,-1,1", 1),
        ("NoDevFiles", 0),
    ],
)
def test_the_visible_devices_are_counted_as_cuda_counts_them(visible: str, count: int) -> None:
    assert devices.get_num_gpus({"CUDA_VISIBLE_DEVICES": visible}) == count


def test_a_machine_without_nvidia_smi_has_no_gpu(tmp_path: Path) -> None:
    assert devices.get_num_gpus({"PATH": str(tmp_path)}) == 0


def test_without_a_restriction_all_gpus_of_the_machine_count(tmp_path: Path) -> None:
    two = "echo 'GPU 0: A (UUID: GPU-1)'; echo '  MIG 1g.5gb'; echo 'GPU 1: A (UUID: GPU-2)'"
    assert devices.get_num_gpus(nvidia_smi(tmp_path, two)) == 2


def test_a_driver_that_does_not_answer_counts_as_no_gpu_and_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert devices.get_num_gpus(nvidia_smi(tmp_path, "echo 'driver not loaded'; exit 9")) == 0
    assert "driver not loaded" in caplog.text
