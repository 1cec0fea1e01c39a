from __future__ import annotations

import os
from pathlib import Path

import pytest

from hopyard.errors import StudyBusy
from hopyard.search.earlier import await_its_driver
from hopyard.store import Project
from hopyard.tracking import RunReader, RunState, RunWriter

pytestmark = pytest.mark.unit


class Time:
    """A clock that goes on when somebody pauses; meanwhile a driver may give signs of life."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.drivers: list[RunWriter] = []

    def __call__(self) -> float:
        return self.now

    def pause(self, seconds: float) -> None:
        self.now += seconds
        for driver in self.drivers:
            driver.poll()


@pytest.fixture
def project() -> Project:
    return Project.open(f"memory://earlier-{os.urandom(4).hex()}", "p")


def begin(project: Project, clock: Time) -> RunWriter:
    return RunWriter.begin(
        project, app_id="app", kind="search", name="s", nodes=1, backend="processes", clock=clock
    )


def test_a_driver_that_ended_its_study_is_not_waited_for(project: Project) -> None:
    clock = Time()
    with begin(project, clock) as run:
        pass
    record = await_its_driver(project, run.record, clock=clock, pause=clock.pause)
    assert record.state is RunState.FINISHED
    assert clock.now == 1000.0


def test_a_driver_that_was_killed_is_known_by_the_heartbeats_that_it_misses(project: Project) -> None:
    clock = Time()
    run = begin(project, clock)
    record = await_its_driver(project, run.record, clock=clock, pause=clock.pause)
    assert record.id == run.id
    assert record.state_at(clock()) is RunState.LOST
    assert run.record.heartbeat_seconds < clock.now - 1000.0 < 10 * run.record.heartbeat_seconds


def test_a_study_whose_driver_lives_is_not_taken_from_it(project: Project) -> None:
    clock = Time()
    run = begin(project, clock)
    clock.drivers.append(run)
    with pytest.raises(StudyBusy, match="another program is running the study"):
        await_its_driver(project, run.record, clock=clock, pause=clock.pause)
    assert RunReader(project, run.id).record().state is RunState.RUNNING


def test_on_a_file_system_the_lock_of_the_journal_tells_and_nobody_waits(tmp_path: Path) -> None:
    clock = Time()
    project = Project.open(str(tmp_path), "p")
    run = begin(project, clock)
    assert await_its_driver(project, run.record, clock=clock, pause=clock.pause) == run.record
    assert clock.now == 1000.0
