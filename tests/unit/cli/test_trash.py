from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from typer.testing import Result

from hopyard import launch
from hopyard.search.api import grid_search
from hopyard.store import Project
from hopyard.tracking import RunWriter, list_runs

pytestmark = pytest.mark.unit
Command = Callable[..., Result]


def nothing(x: float = 0.0) -> float:
    return x


def names(project: Project) -> list[str]:
    return [run.name for run in list_runs(project).runs]


def test_rm_says_what_it_did_and_how_to_undo_it(project: Project, command: Command) -> None:
    first, second = (launch(nothing, name=name, backend="inline", project=project) for name in ("a", "b"))
    result = command("rm", "a", "last", first.run_id)
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        f"Moved {first.run_id} (a) to the trash.",
        f"Moved {second.run_id} (b) to the trash.",
    ]
    assert names(project) == []
    undo = result.stderr.removeprefix("Undo with: hopyard ").split()
    restored = command(*undo)
    assert restored.stdout.splitlines() == [f"Restored {first.run_id} (a).", f"Restored {second.run_id} (b)."]
    assert sorted(names(project)) == ["a", "b"]


def test_a_study_goes_and_comes_with_its_trials(project: Project, command: Command) -> None:
    grid_search(nothing, {"x": [1.0, 2.0]}, name="pinot", backend="processes", parallel=1, project=project)
    trials = command("trials", "pinot").stdout
    command("rm", "pinot")
    assert "there are no studies" in command("trials").stderr
    command("restore", "pinot")
    assert command("trials", "pinot").stdout == trials
    assert "trial" in command("rm", "pinot/x=1.0").stderr
    assert names(project) == ["pinot"]


def test_two_studies_never_get_one_name(project: Project, command: Command) -> None:
    options = {"backend": "processes", "parallel": 1, "project": project}
    old = grid_search(nothing, {"x": [1.0]}, name="pinot", **options)
    command("rm", "pinot")
    new = grid_search(nothing, {"x": [2.0]}, name="pinot", kind="again", **options)
    refused = command("restore", "pinot")
    assert refused.exit_code == 1
    assert refused.stderr == (
        f"error: {old.run_id} cannot come back as 'pinot': the study {new.run_id} has this name. "
        f"Give it another one with `hopyard restore {old.run_id} --name NAME`, or remove {new.run_id} first.\n"
    )
    assert names(project) == ["pinot"]
    restored = command("restore", old.run_id, "--name", "pinot-1")
    assert restored.stdout == f"Restored {old.run_id} (pinot-1).\n"
    assert "x=1" in command("trials", "pinot-1").stdout
    assert "x=2" in command("trials", "pinot").stdout


def test_a_name_is_for_one_run(project: Project, command: Command) -> None:
    for name in ("a", "b"):
        launch(nothing, name=name, backend="inline", project=project)
    command("rm", "a", "b")
    result = command("restore", "a", "b", "--name", "c")
    assert result.exit_code == 2
    assert "--name is for one run, and 2 were given" in result.stderr
    assert (
        "' ' is not valid; give a text of 1 to 100 characters"
        in command("restore", "a", "--name", " ").stderr
    )
    assert names(project) == []


def test_one_run_that_is_running_keeps_all_that_were_named(project: Project, command: Command) -> None:
    launch(nothing, name="ended", backend="inline", project=project)
    RunWriter.begin(project, app_id="app-1", kind="launcher", name="alive", nodes=1, backend="spark")
    result = command("rm", "ended", "alive")
    assert result.exit_code == 1
    assert "app-1/launcher/run.1 is still running" in result.stderr
    assert sorted(names(project)) == ["alive", "ended"]


def test_a_lost_run_can_be_removed(project: Project, command: Command) -> None:
    before = time.time() - 3600
    RunWriter.begin(
        project, app_id="app-1", kind="launcher", name="lost", nodes=1, backend="spark", clock=lambda: before
    )
    assert command("rm", "lost").exit_code == 0
    heading, row = command("trash").stdout.splitlines()
    assert heading.split() == ["RUN", "NAME", "STATE", "STARTED", "REMOVED"]
    assert row.startswith("app-1/launcher/run.1  lost  LOST ")


def test_an_empty_trash_is_told(command: Command) -> None:
    assert "is empty" in command("trash").stderr


@pytest.mark.parametrize("name", ["rm", "restore"])
def test_a_run_that_is_not_there_is_an_error(command: Command, name: str) -> None:
    result = command(name, "chablis")
    assert result.exit_code == 1
    assert "'chablis'" in result.stderr
