from __future__ import annotations

import json
import urllib.parse
from pathlib import Path

import optuna
import pytest

import hopyard
from hopyard.errors import InvalidSearch, NoSuchStudy, NothingFound
from hopyard.search.samplers.fixed_rows import RowsSampler
from hopyard.search.space.space import Space
from hopyard.search.study.quiet import quiet_optuna
from hopyard.search.study.study import Study
from hopyard.search.study.trials import StudyTrials
from hopyard.store import Project
from hopyard.tracking import RunId, RunWriter, TrialRecord, TrialState, run_paths

pytestmark = pytest.mark.unit


def train(rate: float, layers: int) -> dict[str, float]:
    print(f"rate {rate}")
    if layers == 3:
        raise ArithmeticError("three layers are too many")
    return {"accuracy": rate * layers, "size": float(layers)}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return Project.open(str(tmp_path_factory.mktemp("studies")), "p")


@pytest.fixture(scope="module")
def study(project: Project) -> Study:
    """Four trials, of which the last has failed."""
    space = {"rate": [0.1, 0.2], "layers": [1, 3]}
    return hopyard.grid_search(
        train, space, metric="accuracy", backend="processes", parallel=1, project=project, progress=False
    )


def test_a_study_without_a_journal_has_no_trials(study: Study, tmp_path: Path) -> None:
    """As a driver leaves it that was killed at its first step."""
    project = Project.open(str(tmp_path), "q")
    run = RunWriter.begin(project, app_id="app", kind="search", name="new", nodes=1, backend="processes")
    there = Path(urllib.parse.urlsplit(study.logdir).path)
    project.put(run_paths(project, run.id).study, (there / "study.json").read_bytes())
    found = Study.load("new", project=project)
    assert found.trials == ()
    assert found.trials_dataframe().empty
    with pytest.raises(NothingFound, match="it has no trials yet"):
        found.best_trial  # noqa: B018  the property raises


def test_trials_come_in_the_order_of_the_grid(study: Study) -> None:
    assert [(trial.number, trial.params["rate"], trial.params["layers"]) for trial in study.trials] == [
        (0, 0.1, 1),
        (1, 0.1, 3),
        (2, 0.2, 1),
        (3, 0.2, 3),
    ]
    states = [TrialState.FINISHED, TrialState.FAILED] * 2
    assert [trial.state for trial in study.trials] == states


def test_the_best_trial_has_its_value_parameters_and_folder(study: Study) -> None:
    assert study.best_trial.number == 2
    assert study.best_value == 0.2
    assert study.best_params == {"rate": 0.2, "layers": 1}
    assert study.best_logdir == f"{study.logdir}/rate=0.2.layers=1"
    assert study.best_trial.result == {"size": 1.0}
    assert study.best_trials == (study.best_trial,)


def test_each_trial_has_a_folder_with_its_log_and_its_record(study: Study) -> None:
    folders = [Path(urllib.parse.unquote(study.trial_logdir(trial))) for trial in study.trials]
    assert len(set(folders)) == 4
    assert (folders[0] / "logfile").read_text() == "rate 0.1\n"
    assert (folders[0] / "metric").read_text() == "0.1"
    failed = json.loads((folders[1] / "trial.json").read_text())
    assert failed["error"] == "ArithmeticError: three layers are too many"
    assert "in train" in failed["traceback"]
    assert "hopyard/search" not in failed["traceback"]
    assert not (folders[1] / "metric").exists()


def test_a_study_is_read_back_by_its_name_its_id_and_as_the_last_one(study: Study, project: Project) -> None:
    for what in ("last", "train", study.run_id, study.run_id.split("/", 1)[1]):
        loaded = Study.load(what, project=project)
        assert (loaded.run_id, loaded.trials, loaded.best_value) == (study.run_id, study.trials, 0.2)
    assert repr(study) == f"Study({study.run_id!r}, 4 trials)"


def test_the_table_of_trials_has_nothing_that_only_hopyard_needs(study: Study) -> None:
    assert list(study.trials_dataframe().columns) == [
        "number",
        "value",
        "datetime_start",
        "datetime_complete",
        "duration",
        "params_layers",
        "params_rate",
        "user_attrs_error",
        "user_attrs_error_type",
        "user_attrs_folder",
        "user_attrs_host",
        "user_attrs_result",
        "state",
    ]


def test_trials_come_as_a_table(study: Study) -> None:
    table = study.trials_dataframe()
    assert list(table["value"].dropna()) == [0.1, 0.2]
    assert list(table["params_layers"]) == [1, 3, 1, 3]


def test_the_pause_before_a_study_was_resumed_is_no_part_of_a_trials_duration(project: Project) -> None:
    space = Space.of({"x": 1})
    with quiet_optuna():
        optuna_study = optuna.create_study(sampler=RowsSampler(space.grid()))
    ledger = StudyTrials(optuna_study, space, metric="metric")
    ledger.ask()  # as the first driver did, and the next one tells what came of it
    times = {"started": 1000.0, "ended": 1005.5}
    ledger.tell(TrialRecord(number=0, params={}, state=TrialState.FINISHED, values=(1.0,), **times))
    table = Study(project, RunId("app", "search", 1), optuna_study).trials_dataframe()
    assert table["duration"][0].total_seconds() == 5.5
    assert table["datetime_start"][0].to_pydatetime().timestamp() == 1000.0


def test_optuna_has_the_study_too(study: Study) -> None:
    assert study.optuna_study.best_value == 0.2


def test_a_run_that_is_no_study_is_not_found_as_one(project: Project) -> None:
    with RunWriter.begin(
        project, app_id="app", kind="launcher", name="plain", nodes=1, backend="inline", clock=lambda: 1.0
    ):
        pass
    with pytest.raises(NoSuchStudy, match="there is no study 'plain' in "):
        Study.load("plain", project=project)


@pytest.mark.parametrize("text", ["never was", "launched"])
def test_what_is_no_study_is_answered_with_the_studies_that_there_are(text: str, tmp_path: Path) -> None:
    project = Project.open(str(tmp_path), "p")
    hopyard.launch(print, backend="inline", name="launched", project=project, progress=False)
    with pytest.raises(NoSuchStudy, match="It has no studies yet"):
        Study.load(text, project=project)
    study = hopyard.grid_search(
        print, {"end": [""]}, backend="processes", project=project, progress=False, name="searched"
    )
    with pytest.raises(NoSuchStudy, match=rf"Its studies: {study.run_id} \(searched\)\. Give a name"):
        Study.load(text, project=project)


def test_where_nothing_was_returned_there_is_no_best_trial(project: Project) -> None:
    study = hopyard.grid_search(
        print, {"end": ["\n"]}, backend="processes", parallel=1, project=project, progress=False, name="none"
    )
    assert [trial.state for trial in study.trials] == [TrialState.FINISHED]
    with pytest.raises(NothingFound, match="best trial"):
        study.best_value  # noqa: B018
    assert study.best_trials == ()


def pareto(x: float) -> tuple[float, float]:
    return x, -x


def test_of_several_objectives_the_best_trials_are_those_that_no_other_beats(project: Project) -> None:
    study = hopyard.grid_search(
        pareto,
        {"x": [1.0, 2.0]},
        metric=["gain", "cost"],
        direction=["max", "max"],
        backend="processes",
        parallel=1,
        project=project,
        progress=False,
    )
    assert [trial.number for trial in study.best_trials] == [0, 1]
    with pytest.raises(InvalidSearch, match="Use best_trials"):
        study.best_trial  # noqa: B018


def fail_alike(x: int) -> float:
    raise ArithmeticError(f"no weights in layer {x}")


def test_where_all_trials_failed_the_first_error_is_told(project: Project) -> None:
    study = hopyard.grid_search(
        fail_alike,
        {"x": [1, 2]},
        backend="processes",
        parallel=1,
        project=project,
        progress=False,
        name="failed",
    )
    with pytest.raises(NothingFound, match=r"none of its 2 trials .*Trial 0 failed: .*no weights in layer 1"):
        study.best_value  # noqa: B018
