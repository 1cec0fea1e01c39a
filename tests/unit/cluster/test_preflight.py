from __future__ import annotations

import pytest

from hopyard.cluster.capacity import Executors, SparkSettings
from hopyard.cluster.demand import Demand, Needs
from hopyard.cluster.preflight import await_room
from hopyard.errors import NotEnoughSlots

pytestmark = pytest.mark.unit

STANDALONE = "spark://host:7077"
ONE = Executors(count=1, cores=1)


class Arrivals:
    """A Spark whose executors arrive on a timetable, and a clock that runs only while somebody waits."""

    def __init__(self, *timetable: tuple[float, Executors]) -> None:
        self.now = 100.0
        self._timetable = [(self.now + after, executors) for after, executors in timetable]

    def look(self) -> tuple[Executors, ...]:
        return tuple(executors for moment, executors in self._timetable if moment <= self.now)

    def clock(self) -> float:
        return self.now

    def pause(self, seconds: float) -> None:
        self.now += seconds

    @property
    def waited(self) -> float:
        return self.now - 100.0


def fly(
    spark: Arrivals,
    *demands: Demand,
    master: str = "yarn",
    settle_seconds: float = 8.0,
    **conf: str,
) -> tuple[Executors, ...]:
    given = {f"spark.{key.replace('__', '.')}": value for key, value in conf.items()}
    needs = Needs.of(SparkSettings.of({"spark.master": master, **given}), demands)
    return await_room(needs, spark.look, settle_seconds=settle_seconds, clock=spark.clock, pause=spark.pause)


def refused(spark: Arrivals, *demands: Demand, master: str = "yarn", **conf: str) -> str:
    with pytest.raises(NotEnoughSlots) as error:
        fly(spark, *demands, master=master, **conf)
    return str(error.value)


def test_a_plan_that_fits_starts_at_once() -> None:
    spark = Arrivals((0, ONE))
    assert fly(spark, Demand(nodes=1), master=STANDALONE) == (ONE,)
    assert spark.waited == 0


def test_executors_that_are_promised_are_not_waited_for() -> None:
    spark = Arrivals()
    assert fly(spark, Demand(nodes=2)) == ()
    assert spark.waited == 0


def test_more_than_is_promised_is_refused_at_once() -> None:
    spark = Arrivals((0, ONE))
    with pytest.raises(NotEnoughSlots):
        fly(spark, Demand(nodes=3))
    assert spark.waited == 0


def test_executors_beyond_the_promise_count_when_they_are_there() -> None:
    there = Executors(count=3, cores=1)
    assert fly(Arrivals((0, there)), Demand(nodes=3)) == (there,)


def test_executors_of_a_standalone_cluster_are_waited_for() -> None:
    spark = Arrivals((0, ONE), (3, ONE))
    assert fly(spark, Demand(nodes=2), master=STANDALONE) == (ONE, ONE)
    assert 3 <= spark.waited < 4


def test_a_standalone_cluster_that_stays_too_small_is_refused_when_the_time_is_over() -> None:
    spark = Arrivals((0, ONE), (20, ONE))
    text = refused(spark, Demand(nodes=2), master=STANDALONE)
    assert 8 <= spark.waited < 9
    assert text == (
        "the plan needs 2 slots, this Spark has 1 (1 executor x 1 core came within 8 s, spark.task.cpus=1). "
        "Ask for fewer nodes, or start more workers, or free the cores and memory that other applications hold."
    )


def test_a_standalone_cluster_without_any_executor_says_so() -> None:
    assert "this Spark has 0 (no executors came within 8 s" in refused(
        Arrivals(), Demand(nodes=1), master=STANDALONE
    )


def test_more_than_the_most_cores_is_refused_at_once() -> None:
    spark = Arrivals((0, ONE))
    text = refused(spark, Demand(nodes=4), master=STANDALONE, cores__max="2")
    assert spark.waited == 0
    assert "needs 4 slots, this Spark has 2 (spark.cores.max=2, spark.task.cpus=1)" in text
    assert "raise spark.cores.max (now 2)" in text


def test_the_most_cores_are_no_promise() -> None:
    spark = Arrivals((0, ONE), (2, ONE))
    fly(spark, Demand(nodes=2), master=STANDALONE, cores__max="2")
    assert spark.waited >= 2


def test_dynamic_allocation_is_trusted_up_to_its_limit() -> None:
    dynamic = {"dynamicAllocation__enabled": "true", "dynamicAllocation__maxExecutors": "3"}
    assert fly(Arrivals(), Demand(nodes=3), **dynamic) == ()
    text = refused(Arrivals(), Demand(nodes=4), **dynamic)
    assert "needs 4 slots, this Spark has 3 (3 executors x 1 core, spark.task.cpus=1)" in text
    assert "raise spark.dynamicAllocation.maxExecutors (now 3), or raise spark.executor.cores (now 1)" in text
    assert "instances" not in text


def test_a_refusal_has_the_numbers_and_the_settings() -> None:
    assert refused(Arrivals(), Demand(nodes=4)) == (
        "the plan needs 4 slots, this Spark has 2 (2 executors x 1 core, spark.task.cpus=1). "
        "Ask for fewer nodes, or raise spark.executor.instances (now 2), or raise spark.executor.cores (now 1)."
    )


def test_a_refusal_tells_of_tasks_that_take_several_cores() -> None:
    text = refused(Arrivals(), Demand(nodes=2), executor__instances="1", executor__cores="3", task__cpus="2")
    assert "needs 2 slots, this Spark has 1 (1 executor x 3 cores, spark.task.cpus=2)" in text
    assert text.endswith("or lower spark.task.cpus (now 2).")


GPUS = {"executor__resource__gpu__amount": "1", "executor__cores": "2"}


def test_a_refusal_tells_which_slots_need_a_gpu() -> None:
    text = refused(Arrivals(), Demand(nodes=3, gpus=1), Demand(nodes=2, gpus=0), **GPUS)
    assert text.startswith(
        "the plan needs 5 slots (3 with 1 GPU), this Spark has 4 (2 executors x 2 cores and 1 GPU"
    )


def test_a_refusal_for_lack_of_gpus_says_so() -> None:
    text = refused(Arrivals(), Demand(nodes=3, gpus=1), Demand(nodes=1, gpus=0), **GPUS)
    assert text.startswith("the plan needs 3 slots with 1 GPU each, this Spark has 2 (")
    assert "raise spark.executor.resource.gpu.amount (now 1)" in text


def test_a_refusal_of_a_local_master_names_a_larger_one() -> None:
    text = refused(Arrivals(), Demand(nodes=3), master="local[2]")
    assert "needs 3 slots, this Spark has 2 (master local[2], spark.task.cpus=1)" in text
    assert text.endswith("or take a master with more threads, local[n].")


def test_a_local_master_whose_tasks_want_gpus_is_refused_since_they_would_never_start() -> None:
    text = refused(Arrivals(), Demand(nodes=1), master="local[2]", task__resource__gpu__amount="1")
    assert "needs 1 slot with 1 GPU, this Spark has 0" in text
    assert "remove spark.task.resource.gpu.amount" in text


def test_a_refusal_of_an_embedded_cluster_names_its_function() -> None:
    text = refused(Arrivals(), Demand(nodes=3), master="local-cluster[2,1,512]")
    assert "2 executors x 1 core" in text
    assert "hopyard.local_spark(executors=..., cores=...)" in text
