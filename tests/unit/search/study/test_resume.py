from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from hopyard.errors import StudyBusy
from hopyard.search.study.resume import IsLeft, JournalOwner, await_its_driver, open_journal
from hopyard.store import Journal, Project
from hopyard.tracking import RunReader, RunState, RunWriter, run_paths
from hopyard.tracking.driver_process import DriverProcess

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


ELSEWHERE = DriverProcess(host="host-b", machine="of another boot", pid=12, start=1)


def begin(project: Project, clock: Callable[[], float], driver: DriverProcess = ELSEWHERE) -> RunWriter:
    return RunWriter.begin(
        project,
        app_id="app",
        kind="search",
        name="s",
        nodes=1,
        backend="processes",
        clock=clock,
        driver=driver,
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
    assert record == run.record
    assert clock.now - 1000.0 == pytest.approx(run.record.seconds_until_lost, abs=1.5)


@pytest.mark.parametrize("off", [-1e6, 1e6])
def test_the_clock_of_another_machine_may_be_wrong(project: Project, off: float) -> None:
    clock = Time()
    dead = begin(project, lambda: clock() + off)
    await_its_driver(project, dead.record, clock=clock, pause=clock.pause)
    assert clock.now - 1000.0 == pytest.approx(dead.record.seconds_until_lost, abs=1.5)
    alive = begin(project, lambda: clock() + off)
    clock.drivers.append(alive)
    with pytest.raises(StudyBusy):
        await_its_driver(project, alive.record, clock=clock, pause=clock.pause)


def test_a_driver_that_was_killed_on_this_machine_is_not_waited_for(project: Project) -> None:
    clock = Time()
    this = DriverProcess.this()
    dead = replace(this, start=this.start - 1)  # an earlier process had the number of this one
    run = begin(project, clock, driver=dead)
    assert await_its_driver(project, run.record, clock=clock, pause=clock.pause) == run.record
    assert clock.now == 1000.0


def test_a_driver_that_lives_on_this_machine_is_told_at_once(project: Project) -> None:
    clock = Time()
    this = DriverProcess.this()
    run = begin(project, clock, driver=this)
    with pytest.raises(StudyBusy, match=f"running the study {run.id}: {this}, which last wrote 0 s ago"):
        await_its_driver(project, run.record, clock=clock, pause=clock.pause)
    assert clock.now == 1000.0


def test_a_study_whose_driver_lives_is_not_taken_from_it(project: Project) -> None:
    clock = Time()
    run = begin(project, clock)
    clock.drivers.append(run)
    words = "another program is running the study app/search/run.1: process 12 on host-b, which last wrote"
    with pytest.raises(StudyBusy, match=words):
        await_its_driver(project, run.record, clock=clock, pause=clock.pause)
    assert RunReader(project, run.id).record().state is RunState.RUNNING


def test_on_a_file_system_the_lock_of_the_journal_tells_and_nobody_waits(tmp_path: Path) -> None:
    clock = Time()
    project = Project.open(str(tmp_path), "p")
    run = begin(project, clock)
    assert await_its_driver(project, run.record, clock=clock, pause=clock.pause) == run.record
    assert clock.now == 1000.0


# --- who writes the journal, where the store has no locks ------------------------------------------


THIS = DriverProcess.this()
DEAD = replace(THIS, start=THIS.start - 1)


def is_left(project: Project, run: RunWriter, driver: DriverProcess | None, attempt: int, age: float) -> bool:
    stored = JournalOwner(driver=driver, attempt=attempt).to_bytes()
    return IsLeft(project=project, record=run.record, age=lambda *_: age)("path", stored)


def test_the_record_tells_of_a_writer_that_came_to_write_it(project: Project) -> None:
    run = begin(project, Time())
    assert is_left(project, run, THIS, run.record.attempts - 1, age=0.0)


@pytest.mark.parametrize(("driver", "left"), [(THIS, False), (DEAD, True)])
def test_a_writer_of_this_machine_is_looked_for(project: Project, driver: DriverProcess, left: bool) -> None:
    run = begin(project, Time())
    for age in (0.0, 1e6):
        assert is_left(project, run, driver, run.record.attempts, age) is left


@pytest.mark.parametrize("driver", [ELSEWHERE, None])
def test_a_writer_elsewhere_has_as_long_as_a_driver_to_write_the_record(
    project: Project, driver: DriverProcess | None
) -> None:
    run = begin(project, Time())
    longest = run.record.seconds_until_lost
    assert not is_left(project, run, driver, run.record.attempts, longest - 1)
    assert is_left(project, run, driver, run.record.attempts, longest + 1)


def test_a_file_that_cannot_be_understood_is_a_writer_unknown(project: Project) -> None:
    run = begin(project, Time())
    assert not IsLeft(project=project, record=run.record, age=lambda *_: 0.0)("path", b"half a li")
    assert IsLeft(project=project, record=run.record, age=lambda *_: 1e6)("path", b"half a li")


def test_a_driver_that_died_before_it_was_on_record_holds_up_nobody(project: Project) -> None:
    with begin(project, Time()) as run:
        pass
    path = run_paths(project, run.id).study_journal
    dead = JournalOwner(driver=DEAD, attempt=run.record.attempts)
    Journal(project, path, owner=dead.to_bytes())
    open_journal(project, run.record, attempt=run.record.attempts).close()


def test_who_writes_the_journal_is_told_to_others(project: Project) -> None:
    with begin(project, Time()) as run:
        pass
    with (
        open_journal(project, run.record, attempt=run.record.attempts),
        pytest.raises(StudyBusy, match=f"is running the study {run.id}: {THIS}"),
    ):
        open_journal(project, run.record, attempt=run.record.attempts)
