"""Experiments in the driver, between begin and end."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hops import experiment, hdfs, tensorboard
from hopyard.errors import NotInsideRun, PathNotFound
from hopyard.store import Project
from hopyard.tracking import RunReader, RunState, find_run

pytestmark = pytest.mark.unit

FORGETFUL = """
from hops import experiment
experiment.begin(name="forgetful")
print("what now?")
"""


@pytest.fixture(autouse=True)
def no_tensorboard(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server takes seconds to start, and is nothing that is tested here."""
    monkeypatch.setattr("hops.driver_run.has_tensorboard", lambda: False)


@pytest.fixture
def begun() -> Iterator[str]:
    yield experiment.begin(name="pi", description="by throwing needles")
    experiment.end(3.14)


def last_run() -> RunReader:
    return find_run(Project.open(), "last")


def test_a_run_begins_and_ends_with_a_metric() -> None:
    folder = experiment.begin(name="pi", description="by throwing needles")
    record = last_run().record()
    assert folder.endswith("/begin/run.1")
    assert (record.name, record.description, record.state) == ("pi", "by throwing needles", RunState.RUNNING)
    experiment.end(3.14)
    record = last_run().record()
    assert (record.state, record.value) == (RunState.FINISHED, "3.14")


def test_what_is_printed_is_in_the_log() -> None:
    folder = experiment.begin()
    hdfs.log("needle 1")
    print("needle 2")
    experiment.end()
    first, second = Path(folder, "logfile").read_text().splitlines()
    assert first.endswith(": needle 1")
    assert second == "needle 2"


def test_the_log_folder_is_kept() -> None:
    folder = experiment.begin()
    Path(tensorboard.logdir(), "needles.txt").write_text("7")
    experiment.end()
    assert Path(folder, "needles.txt").read_text() == "7"
    with pytest.raises(NotInsideRun):
        tensorboard.logdir()


def test_one_experiment_is_under_way_at_a_time(begun: str) -> None:
    with pytest.raises(RuntimeError, match=r"call experiment\.end\(\) first"):
        experiment.begin()


def test_an_end_needs_a_beginning() -> None:
    with pytest.raises(RuntimeError, match=r"call experiment\.begin\(\) first"):
        experiment.end()


def test_resources_are_copied_into_the_run_as_they_were_at_its_begin() -> None:
    hdfs.dump("version 1", "Resources/code.py")
    folder = experiment.begin(versioned_resources=["Resources/code.py"])
    hdfs.dump("version 2", "Resources/code.py")
    experiment.end()
    assert hdfs.load(f"{folder}/code.py") == b"version 1"


def test_resources_that_are_not_there_are_refused_before_the_run_begins() -> None:
    with pytest.raises(PathNotFound, match=r"Resources/none\.py"):
        experiment.begin(versioned_resources=["Resources/none.py"])
    with pytest.raises(RuntimeError, match="no experiment is under way"):
        experiment.end()


def test_a_program_that_ends_in_the_middle_fails(hopyard_root: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORGETFUL], capture_output=True, text=True, timeout=60, check=False
    )
    assert "what now?" in done.stdout
    record = last_run().record()
    assert record.state is RunState.FAILED
    assert "the program ended without experiment.end()" in (record.error or "")
