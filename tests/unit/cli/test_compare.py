from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from typer.testing import Result

from hopyard import NodeContext, launch
from hopyard.search.api import grid_search
from hopyard.store import Project
from hopyard.tracking import find_run, run_paths

pytestmark = pytest.mark.unit
Command = Callable[..., Result]


def train(rate: float, ctx: NodeContext, layers: int = 2) -> int:
    for step, loss in enumerate((3.0, 1.0, 2.0)):
        ctx.report(step, loss=loss * rate)
    return layers


def square(x: float) -> float:
    return x * x


@pytest.fixture
def two(project: Project) -> list[str]:
    """Two runs that differ in a parameter, and so in their losses."""
    return [
        launch(train, {"rate": rate, "layers": 2}, name="pinot", backend="inline", project=project).run_id
        for rate in (1.0, 0.5)
    ]


def test_runs_are_side_by_side_with_a_mark_where_they_differ(command: Command, two: list[str]) -> None:
    first, second, empty, heading, *rows = command("compare", *two).stdout.splitlines()
    assert (first, second, empty) == (f"A  {two[0]}", f"B  {two[1]}", "")
    assert heading.split() == ["WHAT", "A", "B"]
    cells = [row.split() for row in rows]
    timed = ("started", "duration")  # may differ or not
    same = [row for row in cells if row[0] != "*" and row[0] not in timed]
    assert same == [
        ["name", "pinot", "pinot"],
        ["state", "FINISHED", "FINISHED"],
        ["nodes", "1", "1"],
        ["backend", "inline", "inline"],
        ["attempts", "1", "1"],
        ["value", "2", "2"],
        ["parameter", "layers", "2", "2"],
    ]
    marked = [row[1:] for row in cells if row[0] == "*"]
    assert [row for row in marked if row[0] not in timed] == [
        ["parameter", "rate", "1", "0.5"],
        ["last", "loss", "2", "1"],
        ["min", "loss", "1", "0.5"],
        ["max", "loss", "3", "1.5"],
    ]


def test_json_has_the_runs_and_what_differs(command: Command, two: list[str]) -> None:
    found = json.loads(command("compare", *two, "--json").stdout)
    assert [run["id"] for run in found["runs"]] == two
    assert [run["metrics_min"] for run in found["runs"]] == [{"loss": 1.0}, {"loss": 0.5}]
    assert [run["metrics_max"] for run in found["runs"]] == [{"loss": 3.0}, {"loss": 1.5}]
    assert {"parameter rate", "last loss", "min loss", "max loss"} <= set(found["differs"])
    assert not {"name", "state", "parameter layers"} & set(found["differs"])


def test_trials_are_compared_by_their_parameters(project: Project, command: Command) -> None:
    grid_search(square, {"x": [1.0, 2.0]}, name="study", backend="processes", parallel=1, project=project)
    result = command("compare", "study/x=1.0", "study/x=2.0")
    assert "*  parameter x  1" in result.stdout


def test_trials_are_shown_with_their_numbers_and_values(project: Project, command: Command) -> None:
    study = grid_search(
        square, {"x": [3.0, 2.0]}, name="study", backend="processes", parallel=1, project=project
    )
    text = command("compare", "study/x=2.0", "study/x=3.0", "study").stdout
    assert text.splitlines()[:3] == [
        f"A  {study.run_id}/x=2.0 (trial 1)",
        f"B  {study.run_id}/x=3.0 (trial 0)",
        f"C  {study.run_id}",
    ]
    cells = [line.split() for line in text.splitlines()]
    assert ["*", "trial", "1", "0"] in cells
    assert ["*", "value", "4.0", "9.0", "9"] in cells
    found = json.loads(command("compare", "study/x=2.0", "study/x=3.0", "study", "--json").stdout)
    assert [run["trial"] for run in found["runs"]] == [1, 0, None]
    assert [run["value"] for run in found["runs"]] == ["4.0", "9.0", "9"]


def test_a_trial_that_is_under_way_has_its_number(project: Project, command: Command) -> None:
    grid_search(square, {"x": [3.0, 2.0]}, name="study", backend="processes", parallel=1, project=project)
    study = find_run(project, "study").id
    project.remove(run_paths(project, replace(study, trial="x=2.0")).trial_record)  # it comes with the end
    text = command("compare", "study/x=3.0", "study/x=2.0").stdout
    assert text.splitlines()[1] == f"B  {study}/x=2.0 (trial 1)"


def test_one_run_is_nothing_to_compare(command: Command, two: list[str]) -> None:
    result = command("compare", two[0])
    assert result.exit_code == 2
    assert "give 2 to 26 runs" in result.stderr


def test_a_trial_is_found_by_its_number_and_by_its_parameters_as_they_are_shown(
    project: Project, command: Command
) -> None:
    space = {"x": [1 / 3, 2.0], "y": [1]}
    study = grid_search(area, space, name="study", backend="processes", parallel=1, project=project)
    titles = [
        f"A  {study.run_id}/x=0.3333333333333333.y=1 (trial 0)",
        f"B  {study.run_id}/x=2.0.y=1 (trial 1)",
    ]
    for trials in (
        ["study/0", "last/1"],
        [f"{study.run_id}/0", "study/x=2 y=1"],
        ["study/x=0.333333 y=1", "study/1"],
    ):
        assert command("compare", *trials).stdout.splitlines()[:2] == titles
    assert command("logs", "study/1").stdout == "2.0 by 1\n"
    assert "It is a study: `hopyard" in command("logs", "study").stderr
    assert "logs study --trial N`" in command("logs", "study").stderr


def test_a_trial_that_is_not_there_is_told_with_those_that_are(project: Project, command: Command) -> None:
    space = {"x": [1.0, 2.0], "y": [1]}
    grid_search(area, space, name="study", backend="processes", parallel=1, project=project)
    result = command("compare", "study/0", "study/2")
    assert "there is no trial 2: study" in result.stderr
    assert "has 2 trials, from 0" in result.stderr
    assert "study/x=9" in command("compare", "study/0", "study/x=9 y=1").stderr
    assert "nothere/1" in command("logs", "nothere/1").stderr


def area(x: float, y: int) -> float:
    print(x, "by", y)
    return x * y
