from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.storages import JournalStorage
from optuna.trial import TrialState as OptunaState

import hopyard
from hopyard.codec.records import encode_file
from hopyard.run.context import NodeContext
from hopyard.search.study.optuna_journal import JournalBackend
from hopyard.search.study.quiet import quiet_optuna
from hopyard.search.study.study import Study
from hopyard.store import Journal, Project
from hopyard.tracking import RunReader, RunWriter, TrialState, run_paths
from hopyard.tracking.records import StudyRecord
from hopyard.tracking.states import Direction
from hopyard.tracking.trials import TrialsReader, read_trials

pytestmark = pytest.mark.unit


def train(x: float, kind: str, seen: str, ctx: NodeContext) -> dict[str, float]:
    """Ends in each of the ways that there are."""
    tries = Path(seen, f"{x}{kind}")
    tries.touch()
    count = len(tries.read_text())
    tries.write_text("x" * (count + 1))
    if kind == "killed":
        os.kill(os.getpid(), 9)
    if kind == "failed" or (kind == "retried" and count == 0):
        raise ArithmeticError("no weights\nat all")
    report = hopyard.Reporter(ctx)
    for step in range(5):
        report(step, accuracy=x * step)
    return {"accuracy": x, "size": 3.0}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A study that was left and resumed, with trials that finished, were pruned, failed, and were tried again."""
    project = Project.open(str(tmp_path_factory.mktemp("root")), "p")
    seen = str(tmp_path_factory.mktemp("seen"))
    space = {"x": [5.0, 0.5, 4.0], "kind": ["fine", "failed", "retried", "killed"], "seen": seen}
    options: dict[str, Any] = {"metric": "accuracy", "name": "s", "backend": "processes", "parallel": 1}
    options |= {"project": project, "progress": False, "retries": 1, "same_failures": 100, "pruner": "median"}
    options |= {"seed": 1}
    with pytest.raises(hopyard.errors.HopyardError):
        hopyard.search(train, space, sampler="grid", **{**options, "same_failures": 1})
    return hopyard.search(train, space, sampler="grid", resume=True, **options)


def the_project(study: Study) -> Project:
    root, _, rest = study.logdir.partition("/Projects/")
    return Project.open(root, rest.partition("/")[0])


def test_the_trials_of_a_study_are_those_that_optuna_knows(study: Study) -> None:
    project = the_project(study)
    found = read_trials(project, RunReader(project, study.run_id).id)
    assert found.corrupt == ()
    assert found.records == study.trials
    states = {trial.state for trial in found}
    assert states == {TrialState.FINISHED, TrialState.FAILED, TrialState.PRUNED}
    assert max(trial.attempt for trial in found) > 0


def test_they_are_read_by_the_text_that_results_give_as_their_id(study: Study) -> None:
    found = read_trials(the_project(study), study.run_id)
    assert found.records == study.trials


def test_the_table_of_optuna_has_the_same_in_it(study: Study) -> None:
    project = the_project(study)
    table = Study.load(study.run_id, project=project).trials_dataframe()
    found = read_trials(project, RunReader(project, study.run_id).id).records
    assert [trial.number for trial in found] == list(table["number"])
    assert [trial.params["x"] for trial in found] == list(table["params_x"])
    assert [trial.folder for trial in found] == list(table["user_attrs_folder"])
    for trial, row in zip(found, table.to_dict("records"), strict=True):
        same = {"COMPLETE": "FINISHED", "FAIL": "FAILED"}.get(row["state"], row["state"])
        assert trial.state.value == same
        if trial.started is not None and trial.ended is not None:
            assert trial.ended - trial.started == pytest.approx(row["duration"].total_seconds(), abs=1e-5)
        if trial.values:
            assert trial.value == row["value"]
        else:
            assert math.isnan(row["value"]) or trial.state is TrialState.FAILED


# --- with Optuna at the other end of the journal, for what takes long to happen ---


class Writing:
    """A study that Optuna writes into a project."""

    def __init__(self, project: Project, *directions: str) -> None:
        self.project = project
        self.run = RunWriter.begin(project, app_id="a", kind="search", name="s", nodes=1, backend="inline")
        self.path = run_paths(project, self.run.id).study_journal
        record = StudyRecord(
            run=self.run.id,
            objectives=tuple(f"m{number}" for number, _ in enumerate(directions)),
            directions=tuple(Direction.MAX if each == "maximize" else Direction.MIN for each in directions),
            sampler="s",
            space={},
            parallel=1,
        )
        project.put(run_paths(project, self.run.id).study, encode_file(record))
        self.journal = Journal(project, self.path)
        with quiet_optuna():
            self.study = optuna.create_study(
                storage=JournalStorage(JournalBackend([], self.journal)),
                study_name=str(self.run.id),
                directions=list(directions),
            )

    def expected(self) -> tuple[Any, ...]:
        self.journal.commit()
        return Study.load(str(self.run.id), project=self.project).trials


@pytest.fixture(params=["file", "memory"])
def writing(request: pytest.FixtureRequest, tmp_path: Path) -> Writing:
    root = str(tmp_path) if request.param == "file" else f"memory://trials-{os.urandom(4).hex()}"
    return Writing(Project.open(root, "p"), "maximize")


def test_parameters_of_all_kinds_are_what_optuna_makes_of_them(writing: Writing) -> None:
    trial = writing.study.ask()
    trial.suggest_int("layers", 1, 9)
    trial.suggest_int("units", 8, 512, log=True)
    trial.suggest_float("rate", 1e-5, 1e-1, log=True)
    trial.suggest_float("drop", 0.0, 0.9, step=0.1)
    trial.suggest_categorical("mixed", [None, True, 3, 2.5, "text"])
    writing.study.tell(trial, float("inf"))
    writing.study.add_trial(
        optuna.create_trial(
            params={"rate": 0.01, "layers": 3, "mixed": "text"},
            distributions={
                "rate": FloatDistribution(1e-5, 1e-1, log=True),
                "layers": IntDistribution(1, 9),
                "mixed": CategoricalDistribution((None, True, 3, 2.5, "text")),
            },
            value=0.25,
            user_attrs={"folder": "f", "times": [1.5, 2.5]},
        )
    )
    expected = writing.expected()
    found = read_trials(writing.project, writing.run.id)
    assert found.records == expected
    assert [{name: type(value) for name, value in trial.params.items()} for trial in found] == [
        {name: type(value) for name, value in trial.params.items()} for trial in expected
    ]
    assert found.records[1].params == {"rate": 0.01, "layers": 3, "mixed": "text"}
    assert found.corrupt == ()


def test_trials_that_wait_or_run_or_were_pruned_are_there_too(writing: Writing) -> None:
    writing.study.enqueue_trial({"x": 0.5})
    running = writing.study.ask()
    running.suggest_float("x", 0, 1)
    writing.study.enqueue_trial({"x": 0.25})
    pruned, unjudged, valueless = (
        writing.study.ask({"x": FloatDistribution(0, 1)}),
        optuna.Trial(writing.study, writing.study._storage.create_new_trial(writing.study._study_id)),
        optuna.Trial(writing.study, writing.study._storage.create_new_trial(writing.study._study_id)),
    )
    pruned.report(0.75, 3)
    writing.study.tell(pruned, state=OptunaState.PRUNED)
    writing.study.tell(unjudged, state=OptunaState.PRUNED)
    valueless.set_user_attr("no_value", True)
    writing.study.tell(valueless, state=OptunaState.PRUNED)
    writing.study.enqueue_trial({"x": 0.125})
    expected = writing.expected()
    assert read_trials(writing.project, writing.run.id).records == expected
    assert {trial.state for trial in expected} == {
        TrialState.WAITING,
        TrialState.RUNNING,
        TrialState.PRUNED,
        TrialState.FINISHED,
    }


def test_several_objectives_have_a_value_each(tmp_path: Path) -> None:
    writing = Writing(Project.open(str(tmp_path), "p"), "maximize", "minimize")
    writing.study.tell(writing.study.ask(), [1.0, 2.0])
    expected = writing.expected()
    assert expected[0].values == (1.0, 2.0)
    assert read_trials(writing.project, writing.run.id).records == expected


def test_a_study_without_a_journal_has_no_trials(tmp_path: Path) -> None:
    project = Project.open(str(tmp_path), "p")
    run = RunWriter.begin(project, app_id="a", kind="search", name="s", nodes=1, backend="inline")
    assert read_trials(project, run.id).records == ()


def test_a_reader_sees_what_has_come_since_it_looked_last(writing: Writing) -> None:
    reader = TrialsReader(writing.project, writing.run.id)
    assert reader.read().records == ()
    first = writing.study.ask()
    assert writing.expected() == reader.read().records
    writing.study.tell(first, 1.0)
    writing.study.ask()
    expected = writing.expected()
    assert reader.read().records == expected
    assert [trial.state for trial in expected] == [TrialState.FINISHED, TrialState.RUNNING]


def test_lines_that_cannot_be_understood_are_told_and_hide_no_trial(tmp_path: Path) -> None:
    writing = Writing(Project.open(str(tmp_path), "p"), "maximize")
    writing.study.tell(writing.study.ask(), 1.0)
    for line in (
        b"\xff{",
        b"[]",
        b'{"op_code":6,"trial_id":77,"state":1,"values":[1],"datetime_complete":"2026-01-01T00:00:00"}',
        b'{"op_code":5,"trial_id":1,"param_name":"x","param_value_internal":0,"distribution":"?"}',
        b'{"op_code":4711,"unknown":true}',
    ):
        writing.journal.append(line)
    second = {"op_code": 4, "study_id": 0, "datetime_start": "2026-01-01T00:00:00+00:00", "new": [1]}
    writing.journal.append(json.dumps(second).encode())
    writing.journal.commit()
    with open(str(writing.project.local_path(writing.path)), "ab") as half:
        half.write(b'{"op_code":6,"trial_id":1,"st')
    found = read_trials(writing.project, writing.run.id)
    assert [(trial.number, trial.state) for trial in found] == [
        (0, TrialState.FINISHED),
        (1, TrialState.RUNNING),
    ]
    assert [error.path.rpartition(", ")[2] for error in found.corrupt] == [f"line {n}" for n in (4, 5, 6, 7)]


def test_to_read_trials_loads_neither_optuna_nor_spark_nor_pandas(study: Study) -> None:
    project = the_project(study)
    program = (
        "import sys\n"
        "from hopyard.store import Project\n"
        "from hopyard.tracking import find_study, read_feeds, read_trials\n"
        f"project = Project.open({project.root!r}, {project.name!r})\n"
        "run_id = find_study(project, 'last')\n"
        "print(len(read_trials(project, run_id)), len(read_feeds(project, run_id)))\n"
        "print(sorted({'optuna', 'pyspark', 'pandas', 'numpy', 'pyarrow'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines() == [f"{len(study.trials)} 0", "[]"], done.stderr
