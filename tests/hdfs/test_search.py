"""A study whose project is on HDFS: what it leaves there, and going on from there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

import hopyard
from hopyard import NodeContext, Project
from hopyard.errors import StudyFailed
from hopyard.search.study.study import Study
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


@pytest.fixture(scope="module")
def project(mini_hdfs: MiniHDFS) -> Project:
    return Project(mini_hdfs.url, uuid4().hex)


@pytest.fixture(scope="module")
def study(project: Project) -> Study:
    return search(project, train, name="grid")


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


def search(project: Project, function: Callable[..., float], **options: Any) -> Study:
    return hopyard.grid_search(
        function, SPACE, parallel=2, backend="processes", project=project, progress=False, **options
    )


def rows(study: Study) -> Sequence[object]:
    return [dict(trial.params) for trial in study.trials]


def test_a_grid_is_on_hdfs_with_all_that_its_trials_leave(study: Study, project: Project) -> None:
    assert rows(study) == TABLE
    assert study.best_logdir == f"{study.logdir}/learning_rate=0.0001.dropout=0.7"
    for trial in study.trials:
        run = RunReader(project, f"{study.run_id}/{trial.folder}")
        assert list(run.log()) == [f"dropout={trial.params['dropout']}"]
        assert [point.value for point in run.metrics("accuracy")] == [trial.params["dropout"]]
        assert project.read(f"{project.relative(study.trial_logdir(trial))}/weights") == b"learnt"


def test_a_study_on_hdfs_is_read_by_whoever_comes_later(study: Study, project: Project) -> None:
    loaded = Study.load("grid", project=project)
    assert loaded.trials == study.trials
    assert loaded.best_value == study.best_value


def test_a_study_on_hdfs_that_is_done_is_not_run_again(study: Study, project: Project) -> None:
    again = search(project, train, name="grid", resume=True)
    assert (again.run_id, again.trials) == (study.run_id, study.trials)


def test_a_study_on_hdfs_goes_on_where_it_was_given_up(project: Project) -> None:
    with pytest.raises(StudyFailed, match="there are no data"):
        search(project, train_with_data)
    before = Study.load("train_with_data", project=project)
    failed = [trial.number for trial in before.trials if trial.state is TrialState.FAILED]
    assert len(failed) >= 3
    project.put(REPAIRED, b"")
    study = search(project, train_with_data, resume=True)
    assert study.run_id == before.run_id
    assert rows(study) == TABLE
    assert [trial.number for trial in study.trials if trial.state is TrialState.FAILED] == failed
    assert RunReader(project, study.run_id).record().state is RunState.FINISHED
