from __future__ import annotations

import json
import math
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from typer.testing import Result

from hopyard import NodeContext, launch
from hopyard.cli.output.as_json import spelt
from hopyard.errors import NodeFailed
from hopyard.search.api import grid_search
from hopyard.store import Project
from hopyard.tracking import RunWriter

pytestmark = pytest.mark.unit
Command = Callable[..., Result]


def train(rate: float, ctx: NodeContext) -> float:
    for step in range(3):
        ctx.report(step, loss=rate / (step + 1), accuracy=math.nan)
    return rate


def fail() -> None:
    raise ValueError("sour\nand green")


def objective(x: float) -> float:
    if x == 0.5:
        raise ValueError("sour")
    return -x


def parsed(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout, parse_constant=pytest.fail)


def test_runs_have_the_documented_fields(project: Project, command: Command) -> None:
    result = launch(train, {"rate": 0.5}, name="pinot", backend="inline", project=project)
    (run,) = parsed(command("runs", "--json"))
    for name in ("started", "ended"):
        assert datetime.fromisoformat(run.pop(name)).utcoffset() is not None
    assert run.pop("seconds") >= 0
    assert run.pop("user")
    assert run.pop("version")
    assert run == {
        "id": result.run_id,
        "name": "pinot",
        "state": "FINISHED",
        "folder": result.logdir,
        "description": "",
        "backend": "inline",
        "nodes": 1,
        "attempts": 1,
        "parameters": {"rate": 0.5},
        "metrics": {"accuracy": "NaN", "loss": 0.5 / 3},
        "value": "0.5",
        "error": None,
        "tensorboard": None,
    }
    assert parsed(command("runs", "last", "--json"))[0]["id"] == result.run_id


def test_a_failed_run_has_its_whole_error(project: Project, command: Command) -> None:
    with pytest.raises(NodeFailed):
        launch(fail, backend="inline", project=project)
    (run,) = parsed(command("runs", "--json"))
    assert run["state"] == "FAILED"
    assert "sour\nand green" in run["error"]


def test_a_run_that_goes_on_has_no_end(project: Project, command: Command) -> None:
    RunWriter.begin(project, app_id="app-1", kind="launcher", name="alive", nodes=2, backend="spark")
    (run,) = parsed(command("runs", "--json"))
    assert (run["state"], run["ended"]) == ("RUNNING", None)


def test_all_runs_are_there_unless_there_is_a_limit(project: Project, command: Command) -> None:
    for number in range(25):
        RunWriter.begin(project, app_id="app-1", kind="k", name=f"{number}", nodes=1, backend="spark")
    assert len(parsed(command("runs", "--json"))) == 25
    assert [run["name"] for run in parsed(command("runs", "--json", "-n", "2"))] == ["24", "23"]


def test_studies_and_trials_have_the_documented_fields(project: Project, command: Command) -> None:
    study = grid_search(
        objective, {"x": [0.25, 0.5]}, name="pinot", backend="processes", parallel=1, project=project
    )
    (found,) = parsed(command("studies", "--json"))
    timed = {found.pop(name) is not None for name in ("started", "ended", "seconds", "sampler", "space")}
    assert timed == {True}
    assert found == {
        "id": study.run_id,
        "name": "pinot",
        "state": "FINISHED",
        "folder": study.logdir,
        "metrics": ["metric"],
        "directions": ["max"],
        "pruner": None,
        "trials": 2,
        "parallel": 1,
        "counts": {"FINISHED": 1, "FAILED": 1},
        "best": {"trial": 0, "value": -0.25, "folder": "x=0.25"},
        "error": None,
    }
    first, second = parsed(command("trials", "pinot", "--json"))
    assert {"started", "ended", "seconds", "host", "result"} <= first.keys()
    assert (first["study"], first["number"], first["state"]) == (study.run_id, 0, "FINISHED")
    assert (first["parameters"], first["metrics"]) == ({"x": 0.25}, {"metric": -0.25})
    assert first["folder"] == f"{study.logdir}/x=0.25"
    assert (first["error"], first["error_type"]) == (None, None)
    assert (second["state"], second["metrics"], second["error_type"]) == ("FAILED", {}, "ValueError")
    assert "sour" in second["error"]


@pytest.mark.parametrize("name", ["runs", "studies"])
def test_nothing_is_an_empty_array(command: Command, name: str) -> None:
    result = command(name, "--json")
    assert parsed(result) == []
    assert result.stderr == ""


def test_an_error_is_on_standard_error_with_its_exit_code(command: Command) -> None:
    result = command("runs", "chablis", "--json")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "'chablis'" in result.stderr


def test_floats_that_json_cannot_spell_become_texts() -> None:
    assert spelt({"a": [math.inf, (-math.inf, 1.5)]}) == {"a": ["Infinity", ["-Infinity", 1.5]]}
