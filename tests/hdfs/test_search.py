"""A study whose project is on HDFS: what it leaves there, and going on from there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

import hopyard
from hopyard import NodeContext, Project
from hopyard.errors import StudyFailed
from hopyard.search.study import Study
from hopyard.tracking import RunReader, RunState, TrialState

if TYPE_CHECKING:
    from hopyard.testing.mini_hdfs import MiniHDFS

pytestmark = pytest.mark.hdfs

SPACE = {"learning_rate": [0.001, 0.0005, 0.0001], "dropout": [0.45, 0.7]}
TABLE = [
    {"learning_rate": 0.001, "dropout": 0.45},
    {"learning_rate": 0.001, "dropout": 0.7},
    {"learning_rate": 0.0005, "dropout": 0.45},
    {"learning_rate": 0.0005, "dropout": 0.7},
    {"learning_rate": 0.0001, "dropout": 0.45},
    {"learning_rate": 0.0001, "dropout": 0.7},
]
REPAIRED = "Resources/repaired"


@pytest.fixture
def project(mini_hdfs: MiniHDFS) -> Project:
    return Project(mini_hdfs.url, uuid4().hex)


def train(learning_rate: float, dropout: float, ctx: NodeContext) -> float:
    print(f"dropout={dropout}")
    ctx.report(1, accuracy=dropout)
    Path(ctx.logdir, "weights").write_bytes(b"learnt")
    return dropout - learning_rate


def train_with_data(learning_rate: float, dropout: float, ctx: NodeContext) -> float:
    """Fails until its data are there."""
    if not ctx.project.exists(REPAIRED):
        raise LookupError("there are no data")
    return dropout - learning_rate


def search(project: Project, function: object = train, *, resume: bool = False) -> Study:
    return hopyard.grid_search(
        function,  # type: ignore[arg-type]
        SPACE,
        parallel=2,
        backend="processes",
        project=project,
        name="grid",
        resume=resume,
        progress=False,
    )


def rows(study: Study) -> Sequence[object]:
    return [dict(trial.params) for trial in study.trials]


def test_a_grid_is_on_hdfs_with_all_that_its_trials_leave(project: Project) -> None:
    study = search(project)
    assert rows(study) == TABLE
    assert study.best_logdir == f"{study.logdir}/learning_rate=0.0001.dropout=0.7"
    for trial in study.trials:
        run = RunReader(project, f"{study.run_id}/{trial.folder}")
        assert list(run.log()) == [f"dropout={trial.params['dropout']}"]
        assert [point.value for point in run.metrics("accuracy")] == [trial.params["dropout"]]
        assert project.read(f"{project.relative(study.trial_logdir(trial))}/weights") == b"learnt"


def test_a_study_on_hdfs_is_read_by_whoever_comes_later(project: Project) -> None:
    study = search(project)
    loaded = Study.load("grid", project=project)
    assert loaded.trials == study.trials
    assert loaded.best_value == study.best_value


def test_a_study_on_hdfs_goes_on_where_it_was_given_up(project: Project) -> None:
    with pytest.raises(StudyFailed, match="there are no data"):
        search(project, train_with_data)
    before = Study.load("grid", project=project)
    failed = [trial.number for trial in before.trials if trial.state is TrialState.FAILED]
    assert len(failed) >= 3
    project.put(REPAIRED, b"")
    study = search(project, train_with_data, resume=True)
    assert study.run_id == before.run_id
    assert rows(study) == TABLE
    ended = {trial.number: trial.state for trial in study.trials}
    assert [number for number, state in ended.items() if state is TrialState.FAILED] == failed
    assert RunReader(project, study.run_id).record().state is RunState.FINISHED


def test_a_study_on_hdfs_that_is_done_is_not_run_again(project: Project) -> None:
    study = search(project)
    again = search(project, resume=True)
    assert again.run_id == study.run_id
    assert again.trials == study.trials
