"""What the preflight reads from a running Spark, and what it does there."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyspark import InheritableThread, SparkContext
from pyspark.sql import SparkSession

from hopyard.errors import NotEnoughSlots
from hopyard.spark.preflight.capacity import Executors, arrived, settings_of, slots, tasks_of_others
from hopyard.spark.preflight.profiles import profile_for
from hopyard.spark.preflight.room import Demand, Room, slots_at_once, uses_barrier
from hopyard.testing.watching import wait_until

pytestmark = pytest.mark.spark


@pytest.fixture
def context(spark: SparkSession) -> SparkContext:
    return spark.sparkContext


@dataclass(frozen=True)
class WaitFor:
    """A task that holds its slot until a file is there."""

    path: str

    def __call__(self, rows: Iterator[int]) -> Iterator[int]:
        deadline = time.monotonic() + 60
        while not Path(self.path).exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        return rows


@contextmanager
def busy_slots(context: SparkContext, path: Path, count: int = 1) -> Iterator[None]:
    """Holds some slots meanwhile."""
    rows = context.parallelize(range(count), count).mapPartitions(WaitFor(str(path)))
    thread = InheritableThread(target=rows.count, session=None)
    thread.start()
    try:
        wait_until(lambda: tasks_of_others(context, "") == count, "the tasks run", 30)
        yield
    finally:
        path.touch()
        thread.join()


def test_executors_are_counted_as_spark_counts_them(context: SparkContext) -> None:
    java = context._jsc.sc()
    assert arrived(context) == (Executors(count=2, cores=1),)
    own_count = java.maxNumConcurrentTasks(java.resourceProfileManager().defaultResourceProfile())
    assert slots(arrived(context), settings_of(context).task_cpus, 0) == own_count == 2


def test_settings_are_those_of_the_application(context: SparkContext) -> None:
    settings = settings_of(context)
    assert (settings.workers, settings.instances, settings.task_gpus) == ((2, 1), 2, 0)


def test_a_plan_that_fits_passes_in_no_time(context: SparkContext) -> None:
    Room.of(context, [Demand(nodes=2)], seconds=60).wait()
    started = time.monotonic()
    Room.of(context, [Demand(nodes=1, gpus=1), Demand(nodes=1, gpus=0)], seconds=60).wait()
    assert time.monotonic() - started < 1


def test_a_plan_that_can_never_fit_is_refused_in_no_time(context: SparkContext) -> None:
    started = time.monotonic()
    with pytest.raises(NotEnoughSlots, match=r"needs 3 slots, this Spark has 2 \(2 executors x 1 core,"):
        Room.of(context, [Demand(nodes=3)], seconds=60)
    assert time.monotonic() - started < 2


def told(context: SparkContext, caplog: pytest.LogCaptureFixture, group: str = "") -> list[str]:
    """Returns what is said of a plan with two nodes that has waited for some seconds."""
    room = Room.of(context, [Demand(nodes=2)], seconds=60, group=group)
    room._began -= 7.0
    with caplog.at_level(logging.WARNING):
        room.tell()
    return caplog.messages


def test_slots_that_are_busy_are_told(
    context: SparkContext, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with busy_slots(context, tmp_path / "go on"):
        (message,) = told(context, caplog)
    assert message.startswith(
        "waiting for slots: the plan needs 2, and other tasks of this application hold 1 of 2, 7 s of 60 s"
    )


def test_a_plan_does_not_complain_of_its_own_tasks(
    context: SparkContext, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    context.setJobGroup("own", "tasks of the plan")
    try:
        # two that start together: Spark's pages know the second one some seconds later
        with busy_slots(context, tmp_path / "go on", 2):
            assert told(context, caplog, group="own") == []
    finally:
        context._jsc.clearJobGroup()


def test_a_plan_does_not_complain_of_tasks_that_have_just_ended(
    context: SparkContext, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with busy_slots(context, tmp_path / "go on", 2):
        pass
    assert told(context, caplog) == []


def test_free_slots_are_no_news(context: SparkContext, caplog: pytest.LogCaptureFixture) -> None:
    assert told(context, caplog) == []


def test_slots_of_an_application_are_those_of_all_its_executors(context: SparkContext) -> None:
    assert slots_at_once(context) == 2


def test_a_fixed_number_of_executors_allows_barrier_stages(context: SparkContext) -> None:
    assert uses_barrier(context)


@pytest.mark.parametrize("gpus", [None, 0, 0.5, 1])
def test_without_gpus_in_spark_every_node_runs_with_the_sessions_profile(
    context: SparkContext, gpus: float | None
) -> None:
    assert profile_for(context, gpus) is None
