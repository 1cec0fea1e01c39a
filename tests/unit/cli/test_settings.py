from __future__ import annotations

from pathlib import Path

import pytest

from hopyard.cli.settings import Settings

pytestmark = pytest.mark.unit


def test_the_options_decide_the_project(tmp_path: Path) -> None:
    project = Settings(program="hopyard", root=str(tmp_path / "r"), project="p").open_project()
    assert project.path == f"{tmp_path}/r/Projects/p/"


def test_the_environment_decides_what_options_leave_open(
    hopyard_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOPYARD_PROJECT", "from-environment")
    assert Settings(program="hopyard").open_project().path == f"{hopyard_root}/Projects/from-environment/"


def test_a_suggested_command_can_be_pasted() -> None:
    settings = Settings(program="hopyard", root="/my data")
    assert settings.command("logs", "last") == "hopyard --root '/my data' logs last"


def test_the_same_command_can_be_pasted_with_more_options() -> None:
    settings = Settings(program="hopyard", words=("search", "my file.py:f", "--name=a", "--trials", "3"))
    again = settings.again("--resume", "--name", "b")
    assert again == "hopyard search 'my file.py:f' --name=a --trials 3 --resume"
