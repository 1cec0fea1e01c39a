"""What calls of each release return."""

from __future__ import annotations

from pathlib import Path

import pytest

from hops import hdfs
from hops.eras import VARIABLE, Direction, Era, era_of, of_run, of_study
from hopyard.errors import InvalidSetting
from hopyard.run.result import RunResult
from hopyard.search.api import grid_search
from hopyard.search.study.study import Study
from hopyard.store import Project
from hopyard.tracking import RunState

pytestmark = pytest.mark.unit


def score(x: int) -> dict[str, float]:
    return {"accuracy": x / 10, "loss": 1.0 - x}


def silent(x: int) -> None:
    """Returns nothing to compare."""


def run(value: object) -> RunResult:
    return RunResult(
        run_id="a/launcher/run.1", state=RunState.FINISHED, values=(value,), logdir="/runs/run.1"
    )


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return Project.open(str(tmp_path_factory.mktemp("root")), "vineyard")


@pytest.fixture(scope="module")
def study(project: Project) -> Study:
    return grid_search(
        score, {"x": [1, 3, 2]}, metric="accuracy", backend="processes", parallel=1, project=project
    )


@pytest.mark.parametrize("name", ["train_fn", "grid_dict", "optimization_key", "metric_key"])
def test_arguments_of_later_releases_tell_of_tuples(name: str) -> None:
    assert era_of({name, "direction"}, "max", environ={}) is Era.TUPLES


def test_a_direction_of_later_releases_tells_of_tuples() -> None:
    assert era_of((), Direction.MIN, environ={}) is Era.TUPLES
    assert era_of((), "min", environ={}) is Era.BEST


@pytest.mark.parametrize("name", ["popsize", "maxiter", "mutationfactor", "cleanup"])
def test_arguments_of_early_releases_tell_of_the_folder_alone(name: str) -> None:
    assert era_of({name}, environ={}) is Era.FOLDER


def test_a_call_that_does_not_tell_is_what_is_usual() -> None:
    assert era_of({"population"}, usual=Era.FOLDER, environ={}) is Era.FOLDER


@pytest.mark.parametrize("era", list(Era))
def test_the_variable_decides_whatever_a_call_tells(era: Era) -> None:
    assert era_of({"train_fn"}, environ={VARIABLE: era.value}) is era
    assert era_of({"popsize"}, environ={VARIABLE: era.value}) is era


def test_a_variable_that_means_nothing_is_refused() -> None:
    with pytest.raises(
        InvalidSetting, match="HOPYARD_HOPS_RETURNS=tuple cannot be used: there are logdir, best, tuples"
    ):
        era_of((), environ={VARIABLE: "tuple"})


def test_a_direction_is_the_text_that_it_was() -> None:
    assert (Direction.MAX, Direction.MIN.upper()) == ("MAX", "MIN")


@pytest.mark.parametrize("era", [Era.FOLDER, Era.BEST])
def test_a_launch_returned_the_folder(era: Era) -> None:
    assert of_run(run(0.5), era) == "/runs/run.1"


def test_a_launch_returns_the_folder_and_what_was_returned() -> None:
    assert of_run(run(0.5), Era.TUPLES) == ("/runs/run.1", {"metric": 0.5, "log": "/runs/run.1/logfile"})
    assert of_run(run({"loss": 2}), Era.TUPLES) == ("/runs/run.1", {"loss": 2, "log": "/runs/run.1/logfile"})


def test_a_result_names_files_of_the_project_and_its_log_is_there(hopyard_root: Path) -> None:
    project = Project.open()
    project.put("Logs/run.1/plot.png", b"pixels")
    project.put("Logs/run.1/model/weights.h5", b"weights")
    folder = project.url("Logs/run.1")
    returned = {
        "plot": "plot.png",
        "model": "/tmp/hopyard-0/node-1/logdir/model/weights.h5",
        "absent": "other.png",
        "folder": "model",
        "loss": 0.5,
    }
    result = RunResult(run_id="a/launcher/run.1", state=RunState.FINISHED, values=(returned,), logdir=folder)
    _, named = of_run(result, Era.TUPLES)
    assert named == {
        **returned,
        "plot": "Logs/run.1/plot.png",
        "model": "Logs/run.1/model/weights.h5",
        "log": f"{folder}/logfile",
    }
    assert hdfs.load(named["plot"]) == b"pixels"
    assert hdfs.load(named["log"]) == b""


def test_a_launch_of_several_returns_no_values(study: Study) -> None:
    assert of_run(study, Era.TUPLES) == (study.logdir, None)
    assert of_run(study, Era.FOLDER) == study.logdir


@pytest.mark.parametrize(("era", "evolves"), [(Era.FOLDER, False), (Era.FOLDER, True), (Era.BEST, False)])
def test_searches_returned_the_folder(study: Study, era: Era, evolves: bool) -> None:
    assert of_study(study, era, key="accuracy", evolves=evolves) == study.logdir


def test_an_evolution_returned_the_best_parameters_too(study: Study) -> None:
    assert of_study(study, Era.BEST, key="accuracy", evolves=True) == (study.logdir, {"x": 3})


def test_searches_return_the_best_folder_its_parameters_and_what_it_returned(study: Study) -> None:
    folder = f"{study.logdir}/x=3"
    returned = {"accuracy": 0.3, "loss": -2.0, "log": f"{folder}/logfile"}
    assert of_study(study, Era.TUPLES, key="accuracy") == (folder, {"x": 3}, returned)


def test_a_search_without_any_value_has_no_best(project: Project) -> None:
    study = grid_search(silent, {"x": [1]}, backend="processes", project=project)
    assert of_study(study, Era.TUPLES, key="metric") == (study.logdir, {}, {})
    assert of_study(study, Era.BEST, key="metric", evolves=True) == (study.logdir, {})
