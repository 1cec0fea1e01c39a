from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from hopyard.cli.main import build_app

pytestmark = pytest.mark.unit


def test_a_healthy_machine_ends_with_0(command: Callable[..., Result]) -> None:
    result = command("doctor")
    assert result.exit_code == 0, result.stdout
    assert re.search("^ok +Java ", result.stdout, re.MULTILINE)
    assert result.stdout.endswith("All good.\n")


def test_a_root_that_cannot_be_written_ends_with_1(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = CliRunner().invoke(build_app(), ["--root", str(tmp_path / "file"), "doctor"])
    assert result.exit_code == 1
    assert "problem  project" in result.stdout
    assert "1 to solve" in result.stdout
