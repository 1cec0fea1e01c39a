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

from hopyard.cluster.capacity import Executors, arrived, running_tasks, settings_of, slots
from hopyard.cluster.preflight import Demand, preflight, uses_barrier
from hopyard.cluster.profiles import profile_for
from hopyard.errors import NotEnoughSlots

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
def busy_slot(context: SparkContext, path: Path) -> Iterator[None]:
    """Holds one slot meanwhile."""
    rows = context.parallelize([1], 1).mapPartitions(WaitFor(str(path)))
    thread = InheritableThread(target=rows.count, session=None)
    thread.start()
    try:
        deadline = time.monotonic() + 30
        while running_tasks(context) == 0 and time.monotonic() < deadline:
            time.sleep(0.05)
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
    preflight(context, [Demand(nodes=2)])
    started = time.monotonic()
    preflight(context, [Demand(nodes=1, gpus=1), Demand(nodes=1, gpus=0)])
    assert time.monotonic() - started < 1


def test_a_plan_that_can_never_fit_is_refused_in_no_time(context: SparkContext) -> None:
    started = time.monotonic()
    with pytest.raises(NotEnoughSlots, match=r"needs 3 slots, this Spark has 2 \(2 executors x 1 core,"):
        preflight(context, [Demand(nodes=3)])
    assert time.monotonic() - started < 2


def test_slots_that_are_busy_are_told(
    context: SparkContext, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with busy_slot(context, tmp_path / "go on"), caplog.at_level(logging.WARNING):
        preflight(context, [Demand(nodes=2)])
    assert "the plan needs 2 slots, and other tasks of this application hold 1 of 2" in caplog.text


def test_free_slots_are_no_news(context: SparkContext, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        preflight(context, [Demand(nodes=1)])
    assert caplog.text == ""


def test_a_fixed_number_of_executors_allows_barrier_stages(context: SparkContext) -> None:
    assert uses_barrier(context)


@pytest.mark.parametrize("gpus", [None, 0, 0.5, 1])
def test_without_gpus_in_spark_every_node_runs_with_the_sessions_profile(
    context: SparkContext, gpus: float | None
) -> None:
    assert profile_for(context, gpus) is None
