from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest

from hopyard.store import Project
from hopyard.testing.mini_hdfs import MiniHDFS
from hopyard.tracking import (
    MetricPoint,
    NodeOutcome,
    NodeState,
    NodeWriter,
    RunReader,
    RunState,
    RunWriter,
    find_run,
    list_runs,
)
from hopyard.tracking.trash import find_removed, list_trash, remove_run, restore_run

pytestmark = pytest.mark.hdfs

KILL_WRITERS = Path(__file__).parents[1] / "unit" / "tracking" / "kill_writers.py"


@pytest.fixture
def project(mini_hdfs: MiniHDFS) -> Project:
    return Project(mini_hdfs.url, uuid4().hex)


def begin(project: Project, clock: Callable[[], float] = lambda: 1000.0) -> RunWriter:
    return RunWriter.begin(
        project, app_id="app-1", kind="launcher", name="digits", nodes=1, backend="inline", clock=clock
    )


def test_a_run_is_written_followed_and_found(project: Project) -> None:
    outcome = NodeOutcome(
        rank=0, role="chief", host="h", state=NodeState.FINISHED, exit_code=0, started=1.0, ended=2.0
    )
    with begin(project) as run, NodeWriter(project, run.id, 0) as node:
        following = RunReader(project, run.id).follow(poll_seconds=0.1, clock=lambda: 1000.0)
        node.log("first")
        node.flush()
        seen = [next(following)]
        node.log("second")
        node.metric(MetricPoint(name="loss", step=1, value=0.5, time=1.0))
        node.outcome(outcome)
        run.heartbeat()
    assert [*seen, *following] == ["first", "second"]
    found = find_run(project, "digits")
    assert found.record().state is RunState.FINISHED
    assert [point.value for point in found.metrics("loss")] == [0.5]
    assert list(found.outcomes()) == [outcome]
    assert list(found.log()) == ["first", "second"]


def test_runs_get_different_numbers(project: Project) -> None:
    assert sorted(begin(project).id.number for _ in range(3)) == [1, 2, 3]
    assert len(list_runs(project).runs) == 3


def test_readers_see_a_consistent_past_while_writers_are_killed(mini_hdfs: MiniHDFS) -> None:
    size = ["--kills", "8", "--writers", "2", "--longest-life", "3"]
    ended = subprocess.run(
        [sys.executable, KILL_WRITERS, "--root", mini_hdfs.url, *size],
        capture_output=True,
        text=True,
        timeout=170,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "8 kills" in ended.stdout


def test_a_run_goes_to_the_trash_and_comes_back(project: Project) -> None:
    with begin(project) as run, NodeWriter(project, run.id, 0) as node:
        node.log("first")
    remove_run(project, run.id, 2000.0)
    assert list_runs(project).runs == ()
    restore_run(project, find_removed(project, "digits"))
    assert list_trash(project) == []
    assert list(RunReader(project, run.id).log()) == ["first"]
