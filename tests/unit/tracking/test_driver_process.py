from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import psutil
import pytest

from hopyard.testing.watching import wait_until
from hopyard.tracking import RunState, RunWriter
from hopyard.tracking.driver_process import DriverProcess

pytestmark = pytest.mark.unit
PROGRAM = """
import json, sys
from hopyard.tracking.driver_process import DriverProcess
print(json.dumps(DriverProcess.this().to_json()), flush=True)
sys.stdin.read()
"""
Begin = Callable[..., RunWriter]
Clock = Any  # of conftest.py: it stands still
Other = tuple[subprocess.Popen[str], DriverProcess]


@pytest.fixture
def other() -> Iterator[Other]:
    """Another process, and how it calls itself."""
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        told = DriverProcess.from_json(json.loads(process.stdout.readline()))
        assert told is not None
        yield process, told
        process.kill()


def test_this_process_lives() -> None:
    assert DriverProcess.this().lives() is True
    assert DriverProcess.from_json(DriverProcess.this().to_json()) == DriverProcess.this()
    assert str(DriverProcess.this()).startswith(f"process {os.getpid()} on ")


def test_a_killed_process_is_known_to_be_gone_at_once(other: Other) -> None:
    process, told = other
    assert told.lives() is True
    process.kill()
    process.wait()
    assert told.lives() is False


def test_a_process_that_nobody_has_waited_for_is_gone(other: Other) -> None:
    process, told = other
    process.send_signal(signal.SIGKILL)
    watched = psutil.Process(process.pid)
    wait_until(lambda: watched.status() == psutil.STATUS_ZOMBIE, "the process is a zombie", 10)
    assert told.lives() is False


def test_a_later_process_with_the_same_number_is_not_taken_for_it() -> None:
    this = DriverProcess.this()
    assert replace(this, start=this.start - 1).lives() is False


@pytest.mark.parametrize("elsewhere", [{"host": "host-b"}, {"machine": "another boot"}, {"machine": ""}])
def test_nothing_is_known_of_processes_on_other_machines(elsewhere: dict[str, str]) -> None:
    assert replace(DriverProcess.this(), **elsewhere).lives() is None  # type: ignore[arg-type]


@pytest.mark.parametrize("stored", [{}, {"host": "a"}, {"host": 1, "machine": "", "pid": 1, "start": 1}])
def test_a_record_that_tells_of_no_process_has_none(stored: dict[str, object]) -> None:
    assert DriverProcess.from_json(stored) is None  # type: ignore[arg-type]


def test_a_run_is_lost_as_soon_as_its_driver_on_this_machine_is_gone(
    other: Other, begin: Begin, clock: Clock
) -> None:
    process, told = other
    record = begin(driver=told).record
    assert record.state_at(clock.now) is RunState.RUNNING
    process.kill()
    process.wait()
    assert record.state_at(clock.now) is RunState.LOST


def test_who_goes_on_with_a_run_is_its_driver(other: Other, begin: Begin, clock: Clock) -> None:
    _, told = other
    run = begin(driver=told)
    again = RunWriter.resume(run._project, run.record, "it goes on", clock=clock)
    assert again.record.driver_process == DriverProcess.this()
