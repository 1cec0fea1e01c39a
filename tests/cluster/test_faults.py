"""What is left, and what is told, when a part of a run is killed or interrupted."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from hopyard import Project
from hopyard.testing.processes import command_line, descendants, still_running, with_variable
from hopyard.tracking import RunReader, RunState, find_run

pytestmark = [pytest.mark.cluster, pytest.mark.spark]

DRIVER = """
    import os, sys
    import hopyard
    from hopyard.testing.detaching import DetachingBackend

    def train(ctx):
        import subprocess, sys, time
        helper = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"], start_new_session=True)
        open(ctx.path("up"), "w").close()
        time.sleep(600)

    if sys.argv[1] in ("spark", "detached"):
        with hopyard.local_spark(executors=1, memory="512m") as spark:
            hopyard.launch(train, backend=DetachingBackend(spark.sparkContext) if sys.argv[1] == "detached" else None)
    elif sys.argv[1] == "detached from threads":
        from pyspark import SparkContext
        os.environ["PYSPARK_PYTHON"] = sys.executable
        hopyard.launch(train, backend=DetachingBackend(SparkContext("local[1]")))
    else:
        hopyard.launch(train, backend=sys.argv[1])
"""


class Driver:
    """A driver program in the middle of a run, with all the processes that belong to it."""

    def __init__(self, backend: str, folder: Path) -> None:
        script = folder / "driver.py"
        script.write_text(textwrap.dedent(DRIVER))
        self.project = Project.open()
        self.project.mkdir("")
        self.process = subprocess.Popen(
            [sys.executable, str(script), backend], stderr=subprocess.PIPE, text=True
        )
        self._wait_for(Path(self.project.path) / "up")
        # those that left their Spark tasks are no descendants
        family = {*descendants(self.process.pid), *with_variable("HOPYARD_ROOT", self.project.root)}
        self.family = list(family - {psutil.Process(self.process.pid)})

    def member(self, word: str) -> psutil.Process:
        """Returns the process of the family that has a word in its command line."""
        return next(process for process in self.family if word in command_line(process))

    def alive_after(self, seconds: float) -> list[psutil.Process]:
        """Returns who of the family is still there after at most that many seconds."""
        return still_running(self.family, seconds)

    def end(self) -> str:
        """Waits for the driver's own end and returns what it wrote to standard error."""
        return self.process.communicate(timeout=60)[1]

    @property
    def run(self) -> RunReader:
        return find_run(self.project, "train")

    def _wait_for(self, path: Path, seconds: float = 90.0) -> None:
        for _ in range(int(seconds / 0.1)):
            if path.exists():
                return
            try:
                pytest.fail(f"the driver ended with {self.process.wait(0.1)}: {self.end()}")
            except subprocess.TimeoutExpired:
                continue
        pytest.fail(f"{path} is not there after {seconds} s")


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[str], Driver]]:
    drivers: list[Driver] = []

    def start_driver(backend: str) -> Driver:
        drivers.append(Driver(backend, tmp_path))
        return drivers[-1]

    yield start_driver
    for driver in drivers:
        driver.process.kill()
        driver.process.communicate()


@pytest.mark.parametrize("backend", ["processes", "spark", "detached", "detached from threads"])
def test_no_process_is_left_15_seconds_after_the_driver_is_killed(
    backend: str, start: Callable[[str], Driver]
) -> None:
    driver = start(backend)
    assert driver.member("hopyard.worker.entry").is_running()
    if backend.startswith("detached"):
        assert driver.member("hopyard.worker.detach.main").is_running()
    driver.process.kill()
    assert not driver.alive_after(15)
    record = driver.run.record()
    assert record.state is RunState.RUNNING
    assert record.state_at(record.updated + 3600) is RunState.LOST


@pytest.mark.parametrize("backend", ["processes", "spark", "detached"])
def test_an_interrupt_ends_all_nodes_and_marks_the_run_killed(
    backend: str, start: Callable[[str], Driver]
) -> None:
    driver = start(backend)
    driver.process.send_signal(signal.SIGINT)
    error = driver.end()
    assert error.rstrip().splitlines()[-1].startswith("Interrupted: the run ")
    assert not driver.alive_after(15)
    assert driver.run.record().state is RunState.KILLED, error


def test_a_lost_executor_is_told_and_its_node_does_not_run_again(start: Callable[[str], Driver]) -> None:
    driver = start("spark")
    driver.member("CoarseGrainedExecutorBackend").kill()
    error = driver.end()
    assert "NodeFailed: node 0 (chief)" in error
    assert "its executor was lost" in error
    assert not driver.alive_after(15)
    assert driver.run.record().state is RunState.FAILED
