"""Parts of a machine with GPUs, which machines that run tests mostly have not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Install = Callable[[str], dict[str, str]]


@pytest.fixture
def nvidia_smi(tmp_path: Path) -> Install:
    """Installs a program called nvidia-smi, given as a shell script; returns an environment that finds it."""

    def install(script: str) -> dict[str, str]:
        program = tmp_path / "bin" / "nvidia-smi"
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        return {"PATH": str(program.parent), "HOPYARD_LEASE_FOLDER": str(tmp_path / "leases")}

    return install


@pytest.fixture
def machine(nvidia_smi: Install) -> Callable[[int], dict[str, str]]:
    """Makes the environment of a machine with some GPUs of 16 GiB."""

    def make(gpus: int) -> dict[str, str]:
        return nvidia_smi("\n".join(f"echo '{index}, GPU-{index:04}, 16384'" for index in range(gpus)))

    return make
