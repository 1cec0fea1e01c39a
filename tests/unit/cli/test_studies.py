from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from typer.testing import Result

from hopyard.cli.output.columns import fitted
from hopyard.cli.studies import COLUMNS, row
from hopyard.codec.records import encode_file
from hopyard.store import Project
from hopyard.tracking import Direction, RunState, RunWriter, StudyRecord, run_paths, study_record

pytestmark = pytest.mark.unit
Command = Callable[..., Result]


def begin(project: Project, name: str, *, at: float | None = None) -> RunWriter:
    begun = time.time() if at is None else at
    return RunWriter.begin(
        project, app_id="app-1", kind="search", name=name, nodes=2, backend="spark", clock=lambda: begun
    )


def study(project: Project, name: str, *, at: float | None = None, **fields: Any) -> RunWriter:
    run = begin(project, name, at=at)
    usual: dict[str, Any] = {"objectives": ("accuracy",), "directions": (Direction.MAX,), "trials": 20}
    record = StudyRecord(run=run.id, sampler="TPESampler", space={}, parallel=2, **(usual | fields))
    project.put(run_paths(project, run.id).study, encode_file(record))
    return run


def test_a_study_is_listed_with_its_progress_and_its_best(project: Project, command: Command) -> None:
    counts = {"FINISHED": 9, "PRUNED": 2, "FAILED": 1, "RUNNING": 2}
    run = study(project, "pinot", counts=counts, best_trial=3, best_value=0.93125)
    _, row = command("studies").stdout.splitlines()
    assert row.startswith(f"{run.id}  pinot  RUNNING  12/20 (1 failed)  accuracy=0.9313  ")


def test_a_narrow_terminal_shows_a_table_with_the_best_in_full(project: Project) -> None:
    counts = {"FINISHED": 91, "FAILED": 12}
    run = study(project, "a study of pinot", counts=counts, trials=120, best_trial=3, best_value=0.93125)
    record = study_record(project, run.id)
    assert record is not None
    shown = fitted(COLUMNS, [row(run.record, record, now=time.time())], 80)
    assert shown is not None
    assert [column.name for column in shown[0]] == ["STUDY", "NAME", "STATE", "TRIALS", "BEST"]
    assert shown[1][0][3:] == ["103/120 (12 failed)", "accuracy=0.9313"]


def test_a_study_without_a_limit_tells_how_many_have_ended(project: Project, command: Command) -> None:
    study(project, "endless", trials=None, counts={"FINISHED": 7})
    assert "  RUNNING  7  " in command("studies").stdout


def test_a_study_that_has_just_begun_has_no_best(project: Project, command: Command) -> None:
    study(project, "young")
    assert "  RUNNING  0/20  " in command("studies").stdout


def test_runs_that_are_no_studies_are_left_out(project: Project, command: Command) -> None:
    begin(project, "plain").finish(RunState.FINISHED)
    study(project, "searched")
    assert [line.split()[1] for line in command("studies").stdout.splitlines()] == ["NAME", "searched"]


def test_the_newest_study_comes_first(project: Project, command: Command) -> None:
    for age, name in ((300, "old"), (100, "new"), (200, "middle")):
        study(project, name, at=time.time() - age)
    assert [line.split()[1] for line in command("studies").stdout.splitlines()[1:]] == [
        "new",
        "middle",
        "old",
    ]


def test_a_study_whose_driver_fell_silent_is_lost(project: Project, command: Command) -> None:
    study(project, "silent", at=time.time() - 3600)
    assert "LOST" in command("studies").stdout


def test_a_limit_cuts_the_list_and_says_so(project: Project, command: Command) -> None:
    for number in range(3):
        study(project, f"study{number}", at=time.time() + number)
    result = command("studies", "-n", "2")
    assert [line.split()[1] for line in result.stdout.splitlines()[1:]] == ["study2", "study1"]
    assert "older studies" in result.stderr


def test_a_study_that_cannot_be_read_is_told_and_hides_nothing(project: Project, command: Command) -> None:
    broken = study(project, "broken", at=time.time() - 100)
    project.put(run_paths(project, broken.id).study, b"{")
    study(project, "whole")
    result = command("studies")
    assert result.exit_code == 0
    assert [line.split()[1] for line in result.stdout.splitlines()[1:]] == ["whole"]
    assert "study.json does not hold a readable record" in result.stderr


def test_a_project_without_studies_says_how_to_make_one(project: Project, command: Command) -> None:
    begin(project, "plain")
    result = command("studies")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "vineyard search --help" in result.stderr
