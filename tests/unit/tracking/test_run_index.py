from __future__ import annotations

import os
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from hopyard.store import Entry, Project
from hopyard.tracking import RunId, RunIndex, RunState, RunWriter, list_runs, list_studies, newest_study
from hopyard.tracking.paths import run_paths

pytestmark = pytest.mark.unit
DAY = 86_400.0


class Counted(Project):
    """A project that counts what is asked of its store."""

    calls: Counter[str]

    def read(self, relative: Any) -> bytes:
        self.calls["read"] += 1
        return super().read(relative)

    def info(self, relative: Any = "") -> Entry:
        self.calls["info"] += 1
        return super().info(relative)

    def list(self, relative: Any = "") -> list[Entry]:
        self.calls["list"] += 1
        return super().list(relative)

    def asked(self) -> Counter[str]:
        """Returns what was asked since the last time."""
        calls, self.calls = self.calls, Counter()
        return calls


class Now:
    """The time, and how much later it is for the index."""

    def __init__(self) -> None:
        self.later = 0.0

    def __call__(self) -> float:
        return time.time() + self.later


@pytest.fixture
def now() -> Now:
    return Now()


@pytest.fixture
def project(tmp_path: Path) -> Counted:
    project = Counted(str(tmp_path), "p")
    project.calls = Counter()
    return project


def begin(project: Project, app_id: str = "app", *, name: str = "n", kind: str = "launcher") -> RunWriter:
    return RunWriter.begin(project, app_id=app_id, kind=kind, name=name, nodes=1, backend="inline")


def ended(project: Project, app_id: str = "app", *, name: str = "n", age: float = 0.0) -> RunId:
    """Leaves a run that ended some time ago."""
    then = time.time() - age
    with RunWriter.begin(
        project, app_id=app_id, kind="launcher", name=name, nodes=1, backend="inline", clock=lambda: then
    ) as run:
        run.finish(RunState.FINISHED)
    os.utime(record_of(project, run.id), (then, then))
    return run.id


def record_of(project: Project, run_id: RunId) -> Path:
    path = project.local_path(run_paths(project, run_id).record)
    assert path is not None
    return path


def names(index: RunIndex) -> list[str]:
    return [run.name for run in index.runs().runs]


def test_it_has_the_runs_that_a_listing_has(project: Counted, now: Now) -> None:
    for number in range(5):
        ended(project, f"app-{number % 2}", name=f"n{number}", age=DAY * number)
    running = begin(project, name="runs")
    record_of(project, ended(project, name="bad")).write_text("{")
    (project.local_path(project.layout.logs) or Path()).joinpath("app-0/launcher/run.77").mkdir()
    found = RunIndex(project, clock=now).runs()
    expected = list_runs(project)
    assert (found.runs, list(map(str, found.corrupt))) == (expected.runs, list(map(str, expected.corrupt)))
    assert [run.name for run in found.runs] == ["runs", "n0", "n1", "n2", "n3", "n4"]
    assert len(found.corrupt) == 1
    running.finish(RunState.FINISHED)


def test_ended_runs_are_not_read_again(project: Counted, now: Now) -> None:
    for number in range(40):
        ended(project, f"old-{number}", age=3 * DAY)
        ended(project, "new", age=60.0)
    index = RunIndex(project, clock=now)
    first = index.runs()
    assert project.asked()["read"] == 80
    assert index.runs() is first
    # the folder of all, and those of the one application that may go on
    assert project.asked() == Counter(list=3)


def test_a_look_at_everything_reads_only_what_was_written_again(project: Counted, now: Now) -> None:
    old = [ended(project, f"old-{number}", name="n", age=3 * DAY) for number in range(10)]
    index = RunIndex(project, whole_seconds=60.0, clock=now)
    index.runs()
    project.asked()
    now.later = 61.0
    index.runs()
    assert project.asked() == Counter(info=10, list=21)
    path = record_of(project, old[4])
    path.write_text(path.read_text().replace('"n"', '"m"'))
    now.later = 90.0
    assert names(index).count("m") == 0
    assert project.asked() == Counter(list=1)
    now.later = 130.0
    assert names(index).count("m") == 1
    assert project.asked() == Counter(info=10, read=1, list=21)


def test_a_record_of_the_same_size_and_an_older_time_is_seen(project: Counted, now: Now) -> None:
    """As a run has that was moved to the place of another one."""
    run_id = ended(project, age=3 * DAY, name="n")
    index = RunIndex(project, whole_seconds=0.0, clock=now)
    assert names(index) == ["n"]
    assert names(index) == ["n"]
    path = record_of(project, run_id)
    path.write_text(path.read_text().replace('"n"', '"m"'))
    os.utime(path, (1e9, 1e9))
    assert names(index) == ["m"]


def test_a_record_that_was_read_just_after_it_was_written_is_read_again(project: Counted, now: Now) -> None:
    """It may have been written once more within the same tick of the store's clock."""
    run_id = ended(project, age=5.0, name="n")
    index = RunIndex(project, whole_seconds=0.0, clock=now)
    index.runs()
    path = record_of(project, run_id)
    times = path.stat().st_mtime_ns
    path.write_text(path.read_text().replace('"n"', '"m"'))
    os.utime(path, ns=(times, times))
    assert names(index) == ["m"]


def test_a_run_that_goes_on_is_seen_to_beat_and_to_end(project: Counted, now: Now) -> None:
    ended(project, "old", age=3 * DAY)
    run = begin(project, name="runs")
    index = RunIndex(project, clock=now)
    (before,) = (each for each in index.runs().runs if each.name == "runs")
    project.asked()
    run.heartbeat()
    (after,) = (each for each in index.runs().runs if each.name == "runs")
    assert after.updated > before.updated
    assert project.asked()["read"] == 1
    run.finish(RunState.FINISHED)
    assert {each.state for each in index.runs().runs} == {RunState.FINISHED}
    project.asked()
    index.runs()
    assert project.asked()["read"] == 0


def test_new_and_removed_runs_and_applications_are_seen_at_once(project: Counted, now: Now) -> None:
    first = ended(project, name="first", age=60.0)
    index = RunIndex(project, clock=now)
    assert names(index) == ["first"]
    ended(project, name="second", age=50.0)
    ended(project, "another", name="third", age=40.0)
    assert names(index) == ["third", "second", "first"]
    project.remove(run_paths(project, first).folder, recursive=True)
    project.remove(project.layout.application("another"), recursive=True)
    assert names(index) == ["second"]


def test_a_run_folder_that_gets_its_record_later_is_seen(project: Counted, now: Now) -> None:
    run_id = ended(project, name="late")
    path = record_of(project, run_id)
    data = path.read_bytes()
    path.unlink()
    index = RunIndex(project, clock=now)
    assert names(index) == []
    path.write_bytes(data[:20])
    assert len(index.runs().corrupt) == 1
    path.write_bytes(data)
    assert (names(index), index.runs().corrupt) == (["late"], ())


def test_a_store_that_fails_leaves_what_was_known(project: Counted, now: Now) -> None:
    ended(project, name="n", age=60.0)
    index = RunIndex(project, clock=now)
    index.runs()
    logs = project.local_path(project.layout.logs)
    assert logs is not None
    logs.rename(logs.with_name("aside"))
    logs.write_text("no folder")
    with pytest.raises(OSError, match="must be a folder"):
        index.runs()
    logs.unlink()
    logs.with_name("aside").rename(logs)
    assert names(index) == ["n"]


def test_threads_may_share_it(project: Counted, now: Now) -> None:
    for number in range(20):
        ended(project, f"app-{number}", age=number * DAY)
    index = RunIndex(project, whole_seconds=0.0, clock=now)
    start = threading.Barrier(8)

    def look(_: int) -> int:
        start.wait(10.0)
        return len(index.runs().runs)

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(look, range(8))) == {20}


def test_whether_an_ended_run_is_a_study_is_asked_once(project: Counted, now: Now) -> None:
    for number in range(3):
        ended(project, name=f"n{number}", age=100.0 - number)
    study = ended(project, name="study", age=200.0)
    project.put(run_paths(project, study).study, b"{}")
    young = begin(project, name="young")
    index = RunIndex(project, clock=now)
    assert [run.name for run in index.studies()] == ["study"]
    project.asked()
    assert [run.name for run in index.studies()] == ["study"]
    assert project.asked()["info"] == 1  # the one that goes on may yet become one
    project.put(run_paths(project, young.id).study, b"{}")
    assert [run.name for run in index.studies()] == ["young", "study"]
    assert [run.name for run in index.studies(lambda run: run.name == "study")] == ["study"]
    assert newest_study(project) == young.record
    assert [run.name for run in list_studies(project)] == ["young", "study"]


def test_the_newest_study_is_found_without_a_look_at_all_runs(project: Counted) -> None:
    for number in range(200):
        run_id = ended(project, name="n", age=1000.0 - number)
    project.put(run_paths(project, run_id).study, b"{}")
    project.asked()
    assert newest_study(project) is not None
    assert project.asked()["info"] <= 64
