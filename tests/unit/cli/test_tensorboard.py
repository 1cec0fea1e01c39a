from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from hopyard import launch
from hopyard.cli.tensorboard import folder_of
from hopyard.errors import RunNotFound
from hopyard.store import Project

pytestmark = pytest.mark.unit


def nothing() -> None:
    pass


def test_all_runs_are_meant_where_nothing_is_named(project: Project) -> None:
    assert folder_of(project, None) == f"{project.path}Logs/TensorFlow"


def test_a_run_stands_for_its_folder(project: Project) -> None:
    result = launch(nothing, name="pinot", backend="inline", project=project)
    assert folder_of(project, "pinot") == result.logdir
    assert folder_of(project, result.run_id) == result.logdir


def test_a_folder_of_the_project_can_be_named(project: Project) -> None:
    project.mkdir("Resources/old-logs")
    assert folder_of(project, "Resources/old-logs") == f"{project.path}Resources/old-logs"


def test_a_path_is_a_local_folder(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert folder_of(project, "./logs") == str(tmp_path / "logs")
    assert folder_of(project, "/var/log") == "/var/log"
    assert folder_of(project, "~/logs") == os.path.expanduser("~/logs")


def test_a_url_stays_as_it_is(project: Project) -> None:
    assert folder_of(project, "s3://bucket/logs") == "s3://bucket/logs"


def test_what_is_neither_run_nor_folder_is_refused(project: Project) -> None:
    with pytest.raises(RunNotFound):
        folder_of(project, "merlot")


def test_a_project_without_runs_is_one_clear_message(command: Callable[..., Result]) -> None:
    result = command("tensorboard")
    assert result.exit_code == 1
    assert result.stderr.startswith("error: ")
