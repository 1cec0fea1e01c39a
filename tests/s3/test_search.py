"""A study whose project is a bucket."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import hopyard
from hopyard import NodeContext, Project
from hopyard.search.study.study import Study
from hopyard.tracking import RunId, RunReader, list_runs
from hopyard.tracking.trash import list_trash, remove_run, restore_run

if TYPE_CHECKING:
    from hopyard.testing.s3_server import S3Server

pytestmark = pytest.mark.s3


def train(rate: float, ctx: NodeContext) -> float:
    print(f"rate {rate}")
    Path(ctx.logdir, "weights").write_bytes(b"learnt")
    return rate


def test_a_study_is_kept_in_a_bucket_and_goes_on_from_there(s3_server: S3Server) -> None:
    options = s3_server.storage_options
    project = Project.open(s3_server.new_bucket(), "vineyard", storage_options=options)
    few = hopyard.random_search(
        train,
        {"rate": hopyard.Range(0.0, 1.0)},
        2,
        backend="processes",
        parallel=2,
        project=project,
        progress=False,
    )
    more = hopyard.random_search(
        train,
        {"rate": hopyard.Range(0.0, 1.0)},
        4,
        backend="processes",
        parallel=2,
        project=project,
        progress=False,
        resume=True,
    )
    assert (more.run_id, more.trials[:2]) == (few.run_id, few.trials)
    assert [trial.number for trial in more.trials] == [0, 1, 2, 3]
    assert Study.load(project=project).trials == more.trials
    for trial in more.trials:
        run = RunReader(project, f"{more.run_id}/{trial.folder}")
        assert list(run.log()) == [f"rate {trial.params['rate']}"]
        assert project.read(f"{project.relative(more.trial_logdir(trial))}/weights") == b"learnt"


def test_a_study_goes_to_the_trash_of_a_bucket_and_comes_back(s3_server: S3Server) -> None:
    project = Project.open(s3_server.new_bucket(), "vineyard", storage_options=s3_server.storage_options)
    study = hopyard.grid_search(
        train, {"rate": [0.0, 1.0]}, backend="processes", parallel=1, project=project, progress=False
    )
    run_id = RunId.parse(study.run_id)
    files = sorted(entry.path for entry in project.walk(project.layout.logs))
    remove_run(project, run_id, time.time())
    assert list_runs(project).runs == ()
    (removed,) = list_trash(project)
    restore_run(project, removed)
    assert list_trash(project) == []
    assert sorted(entry.path for entry in project.walk(project.layout.logs)) == files
    assert Study.load(project=project).trials == study.trials
