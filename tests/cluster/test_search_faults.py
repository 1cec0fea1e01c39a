"""What becomes of a study when its executors, their Python or its driver are killed: on real processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from optuna.samplers import RandomSampler

import hopyard
from hopyard import NodeContext, Project
from hopyard.errors import BackendFailed
from hopyard.search.study.study import Study
from hopyard.search.trial.slot import CALL_SECONDS
from hopyard.testing.processes import descendants, still_running
from hopyard.testing.watching import wait_until
from hopyard.tracking import RunState, TrialState, find_run, run_paths
from hopyard.worker.lease import longest_silence

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.cluster, pytest.mark.spark]

SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # JVMs that start fast
SECONDS = 120
END_SECONDS = 30
NOTICE_SECONDS = 5
PROGRAM = Path(__file__).with_name("search_program.py")
NAME, TRIALS, WAITING = "killed", 8, (3, 4)  # as in the program
MORE_TRIALS, MORE_WAITING = 16, (3, 4, 5, 6)
LEASE_SECONDS = 4.0  # as in the program
SLOW_TRIAL, SHORT_LEASE_SECONDS = 3, 3.0


def wait_at_first(number: int, ctx: NodeContext) -> dict[str, float]:
    """Waits for ever in the first attempt at trial 0, for a word in a trial 6; returns which executor it ran on."""
    ctx.project.put(f"began/{number}.{ctx.attempt}", str(os.getpid()).encode())
    if number == 0 and ctx.attempt == 0:
        threading.Event().wait()
    if number == 6:
        wait_until(lambda: ctx.project.exists("word"), "there is the word", SECONDS)
    return {"metric": float(number), "executor": executor_of(psutil.Process()).pid}


def executor_of(process: psutil.Process) -> psutil.Process:
    return next(parent for parent in process.parents() if parent.name() == "java")


def python_worker_of(process: psutil.Process) -> psutil.Process:
    """Returns the Python process of the Spark task, which is the slot."""
    warden, worker, *_ = process.parents()
    assert "warden" in " ".join(warden.cmdline())
    return worker


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as pool:
        yield pool


def start(pool: ThreadPoolExecutor, trials: int = 6, **options: Any) -> tuple[Future[Study], psutil.Process]:
    """Starts a study in another thread; returns it and the process of its first trial, which waits."""
    space = {"number": list(range(trials))}
    study = pool.submit(hopyard.grid_search, wait_at_first, space, parallel=2, progress=False, **options)
    project = Project.open()
    wait_until(lambda: study.done() or project.exists("began/0.0"), "trial 0 has begun", SECONDS)
    return study, psutil.Process(int(project.read("began/0.0")))


def check_that_only_trial_0_ran_twice(study: Study) -> None:
    assert [trial.number for trial in study.trials] == list(range(6))
    assert {trial.state for trial in study.trials} == {TrialState.FINISHED}
    assert [trial.value for trial in study.trials] == list(range(6))
    assert [trial.attempt for trial in study.trials] == [1, 0, 0, 0, 0, 0]
    began = [entry.name for entry in Project.open().list("began")]
    assert sorted(began) == ["0.0", "0.1", "1.0", "2.0", "3.0", "4.0", "5.0"]


def test_the_trial_of_a_killed_executor_runs_again_on_another(
    executors: SparkSession, pool: ThreadPoolExecutor
) -> None:
    study, victim = start(pool, spark=executors)
    executor = executor_of(victim)
    executor.kill()
    result = study.result(SECONDS)
    check_that_only_trial_0_ran_twice(result)
    assert result.trials[0].result["executor"] != executor.pid
    assert not still_running([victim], END_SECONDS)


def test_the_trial_of_a_killed_python_worker_runs_again(
    executors: SparkSession, pool: ThreadPoolExecutor
) -> None:
    study, victim = start(pool, spark=executors)
    python_worker_of(victim).kill()
    check_that_only_trial_0_ran_twice(study.result(SECONDS))
    assert not still_running([victim], END_SECONDS)


def test_the_trial_of_a_python_worker_that_hangs_ends_and_runs_again(
    executors: SparkSession, pool: ThreadPoolExecutor
) -> None:
    study, victim = start(pool, trials=7, spark=executors, lease_seconds=4)
    worker = python_worker_of(victim)
    worker.suspend()
    try:
        assert not still_running([victim], longest_silence(4, CALL_SECONDS) + NOTICE_SECONDS)
    finally:
        worker.resume()
    Project.open().put("word", b"")
    assert [trial.attempt for trial in study.result(SECONDS).trials] == [1, 0, 0, 0, 0, 0, 0]


def wait_as_a_pair_at_first(number: int, ctx: NodeContext) -> float:
    """The nodes of trial 0 wait for ever when they run for the first time."""
    path = f"pair/{number}.{ctx.rank}"
    is_first = not ctx.project.exists(path)
    ctx.project.put(path, str(os.getpid()).encode())
    if number == 0 and is_first:
        threading.Event().wait()
    return float(number)


def test_a_distributed_trial_that_loses_an_executor_runs_again(
    executors: SparkSession, pool: ThreadPoolExecutor
) -> None:
    project = Project.open()
    study = pool.submit(
        hopyard.grid_search,
        wait_as_a_pair_at_first,
        {"number": [0, 1]},
        nodes_per_trial=2,
        spark=executors,
        progress=False,
    )
    paths = ["pair/0.0", "pair/0.1"]
    wait_until(lambda: study.done() or all(map(project.exists, paths)), "both nodes have begun", SECONDS)
    nodes = [psutil.Process(int(project.read(path))) for path in paths]
    executor_of(nodes[1]).kill()
    trials = study.result(SECONDS).trials
    assert [(trial.state, trial.value) for trial in trials] == [
        (TrialState.FINISHED, 0.0),
        (TrialState.FINISHED, 1.0),
    ]
    assert [trial.attempt for trial in trials] == [1, 0]
    assert not still_running(nodes, END_SECONDS)


def test_a_study_whose_job_somebody_cancels_in_spark_ends_with_that(
    executors: SparkSession, pool: ThreadPoolExecutor
) -> None:
    study, trial = start(pool, spark=executors, name="cancelled")
    executors.sparkContext.cancelAllJobs()
    with pytest.raises(BackendFailed, match="cancelled"):
        study.result(SECONDS)
    assert not still_running([trial], END_SECONDS)
    assert find_run(Project.open(), "cancelled").record().state is RunState.FAILED


class Driver:
    """A program that runs a study, and what its trials leave in a folder."""

    def __init__(self, where: str, folder: Path) -> None:
        self._where = where
        self._folder = folder
        self._process: subprocess.Popen[str] | None = None
        self._errors = folder / "errors"

    @property
    def process(self) -> subprocess.Popen[str]:
        assert self._process is not None
        return self._process

    def start(self, where: str | None = None) -> None:
        """Starts the program, where it ran before if nothing else is said: a study may go on anywhere."""
        size = "large" if self._where == "slots" else "small"
        with self._errors.open("a") as errors:
            self._process = subprocess.Popen(
                [sys.executable, str(PROGRAM), where or self._where, str(self._folder), size],
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env={**os.environ, "JAVA_TOOL_OPTIONS": SHORT_LIVED},
            )

    def family(self) -> list[psutil.Process]:
        """Returns the driver and all processes that descend from it."""
        return [psutil.Process(self.process.pid), *descendants(self.process.pid)]

    def end(self, number: int) -> list[psutil.Process]:
        """Sends a signal to the driver and waits for its end; returns what still runs of its processes."""
        family = self.family()
        self.process.send_signal(number)
        self.process.communicate(timeout=SECONDS)
        return still_running(family, END_SECONDS)

    def await_the_waiting(self, *waiting: int) -> None:
        wait_until(
            lambda: self.process.poll() is not None or set(waiting or WAITING) <= set(self.executions()),
            "the middle trials have begun",
            SECONDS,
        )
        assert self.process.poll() is None, self._errors.read_text()[-3000:]

    def say_the_word(self, *numbers: int) -> None:
        for number in numbers:
            (self._folder / f"word-{number}").touch()

    def executions(self) -> Counter[int]:
        """Returns how often each trial was executed."""
        lines = self._folder / "executions"
        return (
            Counter(int(line.split()[0]) for line in lines.read_text().splitlines())
            if lines.exists()
            else Counter()
        )

    def result(self) -> dict[str, Any]:
        """Returns what the program says at its end."""
        output, _ = self.process.communicate(timeout=SECONDS)
        assert self.process.returncode == 0, self._errors.read_text()[-3000:]
        said: dict[str, Any] = json.loads(output.splitlines()[-1])
        return said


@pytest.fixture
def driver(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Driver]:
    driver = Driver(request.param, tmp_path)
    driver.start()
    yield driver
    driver.process.kill()
    driver.process.communicate()


def check_whole(said: dict[str, Any], *, again: tuple[int, ...]) -> None:
    """Checks that each trial is there once, and which of them were attempted a second time."""
    assert said["trials"] == [
        [number, "FINISHED", float(number), int(number in again)] for number in range(TRIALS)
    ]
    assert said["run"] == str(find_run(Project.open(), NAME).id)


@pytest.mark.parametrize(
    ("driver", "then"), [("processes", "processes"), ("executors", "local")], indirect=["driver"]
)
def test_a_study_goes_on_after_its_driver_was_killed(driver: Driver, then: str) -> None:
    driver.await_the_waiting()
    before = find_run(Project.open(), NAME).id
    assert not driver.end(signal.SIGKILL)
    ended = {number for number in range(TRIALS) if number not in WAITING and driver.executions()[number]}
    assert ended
    driver.say_the_word(*WAITING)
    driver.start(then)
    check_whole(driver.result(), again=WAITING)
    assert driver.executions() == {number: 1 + (number in WAITING) for number in range(TRIALS)}
    after = find_run(Project.open(), NAME)
    assert (after.id, after.record().state) == (before, RunState.FINISHED)
    assert after.record().restarts == ("the study was resumed",)


@pytest.mark.parametrize("driver", ["processes", "local"], indirect=True)
def test_ctrl_c_ends_a_study_and_it_goes_on_when_started_again(driver: Driver) -> None:
    driver.await_the_waiting()
    assert not driver.end(signal.SIGINT)
    assert driver.process.returncode != 0
    assert find_run(Project.open(), NAME).record().state is RunState.KILLED
    driver.say_the_word(*WAITING)
    driver.start("processes")
    check_whole(driver.result(), again=WAITING)
    assert driver.executions() == {number: 1 + (number in WAITING) for number in range(TRIALS)}
    assert find_run(Project.open(), NAME).record().state is RunState.FINISHED


@pytest.mark.parametrize("driver", ["local"], indirect=True)
def test_a_trial_that_ended_while_its_driver_was_dying_is_not_run_again(driver: Driver) -> None:
    driver.await_the_waiting()
    first, second = WAITING
    driver.process.send_signal(signal.SIGSTOP)
    records = stored_records()
    driver.say_the_word(first)
    wait_until(lambda: stored_records() > records, "the trial has stored its record", SECONDS)
    assert not driver.end(signal.SIGKILL)
    driver.say_the_word(second)
    driver.start("processes")
    check_whole(driver.result(), again=(second,))
    assert driver.executions() == {number: 1 + (number == second) for number in range(TRIALS)}


@pytest.mark.parametrize("driver", ["slots"], indirect=True)
def test_trials_that_outlive_their_driver_are_never_taken_for_pruned(driver: Driver) -> None:
    """Killed daemons of pyspark leave their workers, the slots, without anybody who would end them."""
    driver.await_the_waiting(*MORE_WAITING)
    family = driver.family()
    called_so = descendants(driver.process.pid, "pyspark.daemon")  # the workers have the same command
    for daemon in [process for process in called_so if "java" in process.parent().name()]:
        daemon.kill()
    driver.process.kill()
    driver.process.communicate(timeout=SECONDS)
    driver.say_the_word(*MORE_WAITING)  # they end now, with nobody there to hear of it
    assert not still_running(family, END_SECONDS)
    driver.start("processes")
    trials = driver.result()["trials"]
    assert [trial[:3] for trial in trials] == [
        [number, "FINISHED", float(number)] for number in range(MORE_TRIALS)
    ]


@pytest.mark.parametrize("driver", ["processes"], indirect=True)
def test_a_driver_that_was_held_up_for_longer_than_its_lease_loses_no_slot(driver: Driver) -> None:
    driver.await_the_waiting()
    driver.process.send_signal(signal.SIGSTOP)
    until = time.monotonic() + 2 * LEASE_SECONDS  # the time itself is what is tried
    wait_until(lambda: time.monotonic() > until, "two leases have passed", SECONDS)
    driver.process.send_signal(signal.SIGCONT)
    driver.say_the_word(*WAITING)
    check_whole(driver.result(), again=())
    assert driver.executions() == dict.fromkeys(range(TRIALS), 1)


class SlowSampler(RandomSampler):
    """Thinks for longer than the lease of the slots about one trial."""

    def sample_independent(self, study: Any, trial: Any, name: str, distribution: Any) -> Any:
        if trial.number == SLOW_TRIAL:
            time.sleep(2 * SHORT_LEASE_SECONDS)
        return super().sample_independent(study, trial, name, distribution)


def note_the_execution(x: float, ctx: NodeContext) -> float:
    """Leaves a file for each execution."""
    ctx.project.put(f"executed/{x}.{os.getpid()}.{ctx.attempt}", b"")
    return x


def test_a_sampler_that_thinks_for_longer_than_the_lease_loses_no_slot(executors: SparkSession) -> None:
    study = hopyard.search(
        note_the_execution,
        {"x": hopyard.Range(0.0, 1.0)},
        trials=6,
        parallel=2,
        sampler=SlowSampler(seed=1),
        lease_seconds=SHORT_LEASE_SECONDS,
        spark=executors,
        progress=False,
    )
    assert [(trial.state, trial.attempt) for trial in study.trials] == [(TrialState.FINISHED, 0)] * 6
    assert len(list(Project.open().list("executed"))) == 6


def stored_records() -> int:
    """Returns how many trials have stored their records."""
    project = Project.open()
    folder = run_paths(project, find_run(project, NAME).id).folder
    return sum(project.exists(f"{entry.path}/trial.json") for entry in project.list(folder) if entry.is_dir)
