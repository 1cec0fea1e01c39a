from __future__ import annotations

import logging

import pytest

from hopyard.errors import NotEnoughSlots
from hopyard.spark.preflight.capacity import Executors, SparkSettings
from hopyard.spark.preflight.demand import Demand, Needs
from hopyard.spark.preflight.room import SETTLE_SECONDS, Room, settled

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


def room_in(
    spark: Arrivals,
    *demands: Demand,
    master: str = "yarn",
    seconds: float = 600.0,
    others: int = 0,
    **conf: str,
) -> Room:
    given = {f"spark.{key.replace('__', '.')}": value for key, value in conf.items()}
    needs = Needs.of(SparkSettings.of({"spark.master": master, **given}), demands)
    return Room(needs, spark.look, lambda: others, seconds=seconds, clock=spark.clock)


def fly(spark: Arrivals, *demands: Demand, master: str = "yarn", seconds: float = 600.0, **conf: str) -> None:
    room_in(spark, *demands, master=master, seconds=seconds, **conf).wait(spark.pause)


def refused(spark: Arrivals, *demands: Demand, master: str = "yarn", **conf: str) -> str:
    with pytest.raises(NotEnoughSlots) as error:
        fly(spark, *demands, master=master, **conf)
    return str(error.value)


def test_a_plan_that_fits_starts_at_once() -> None:
    spark = Arrivals((0, ONE))
    fly(spark, Demand(nodes=1), master=STANDALONE)
    assert spark.waited == 0


@pytest.mark.parametrize("master", [STANDALONE, "yarn", "local-cluster[2,1,512]", "elsewhere://host"])
def test_executors_that_take_long_are_waited_for(master: str) -> None:
    spark = Arrivals((30, ONE), (45, ONE))
    fly(spark, Demand(nodes=2), master=master)
    assert 45 <= spark.waited < 46


def test_dynamic_allocation_is_not_waited_for_since_tasks_make_executors_come() -> None:
    spark = Arrivals()
    fly(spark, Demand(nodes=2), master=STANDALONE, dynamicAllocation__enabled="true")
    assert spark.waited == 0


def test_more_than_is_promised_is_refused_at_once() -> None:
    spark = Arrivals((0, ONE))
    with pytest.raises(NotEnoughSlots):
        room_in(spark, Demand(nodes=3))


def test_executors_beyond_the_promise_count_when_they_are_there() -> None:
    assert room_in(Arrivals((0, Executors(count=3, cores=1))), Demand(nodes=3)).is_there()


def test_a_cluster_that_stays_too_small_is_refused_when_the_callers_time_is_over() -> None:
    spark = Arrivals((0, ONE), (700, ONE))
    text = refused(spark, Demand(nodes=2), master=STANDALONE)
    assert 600 <= spark.waited < 601
    assert text == (
        "the plan needs 2 slots, this Spark has 1 (1 executor x 1 core came within 600 s, spark.task.cpus=1). "
        "Ask for fewer nodes, or start more workers, or free the cores and memory that other applications hold, "
        "or lower spark.executor.memory or spark.executor.cores if no worker has that much, "
        "or raise start_timeout (now 600 s)."
    )


def test_a_standalone_cluster_without_any_executor_says_so() -> None:
    assert "this Spark has 0 (no executors came within 600 s" in refused(
        Arrivals(), Demand(nodes=1), master=STANDALONE
    )


def test_a_limit_that_leaves_enough_room_is_not_blamed_for_executors_that_do_not_come() -> None:
    assert "spark.cores.max" not in refused(Arrivals(), Demand(nodes=2), master=STANDALONE, cores__max="4")
    assert "spark.executor.instances" not in refused(Arrivals(), Demand(nodes=2), executor__instances="4")
    assert "spark.cores.max" not in refused(
        Arrivals(), Demand(nodes=3), master="local-cluster[2,1,512]", cores__max="9"
    )


def test_whoever_waits_is_told_now_and_then_how_many_slots_are_there(
    caplog: pytest.LogCaptureFixture,
) -> None:
    spark = Arrivals((8, ONE), (30, ONE))
    fly(spark, Demand(nodes=2), master=STANDALONE)
    assert caplog.messages == [
        "waiting for executors: 0 of 2 slots are there (no executors), 5 s of 600 s",
        "waiting for executors: 1 of 2 slots are there (1 executor x 1 core), 10 s of 600 s",
        "waiting for executors: 1 of 2 slots are there (1 executor x 1 core), 20 s of 600 s",
    ]


def test_slots_that_others_hold_are_told_of_if_they_hold_them_for_long(
    caplog: pytest.LogCaptureFixture,
) -> None:
    spark = Arrivals((0, Executors(count=2, cores=1)))
    room = room_in(spark, Demand(nodes=2), master=STANDALONE, others=1)
    room.tell()
    assert caplog.messages == []
    spark.pause(6)
    room.tell()
    room.tell()
    assert caplog.messages == [
        "waiting for slots: the plan needs 2, and other tasks of this application hold 1 of 2, 6 s of 600 s"
    ]


def test_a_plan_whose_slots_are_free_has_nothing_to_tell(caplog: pytest.LogCaptureFixture) -> None:
    spark = Arrivals((0, Executors(count=2, cores=1)))
    room = room_in(spark, Demand(nodes=1), master=STANDALONE, others=1)
    spark.pause(6)
    with caplog.at_level(logging.INFO):
        room.tell()
    assert caplog.messages == []


def count_in(spark: Arrivals) -> int:
    return sum(each.count for each in spark.look())


def test_slots_are_counted_when_no_more_come() -> None:
    spark = Arrivals((0, ONE), (2, ONE), (3, ONE), (30, ONE))
    assert settled(lambda: count_in(spark), clock=spark.clock, pause=spark.pause) == 3
    assert 3 + SETTLE_SECONDS <= spark.waited < 30


def test_as_many_slots_as_are_wanted_are_enough() -> None:
    spark = Arrivals((0, ONE), (2, ONE), (3, ONE))
    assert settled(lambda: count_in(spark), wanted=2, clock=spark.clock, pause=spark.pause) == 2
    assert spark.waited < 3


def test_more_than_the_most_cores_is_refused_at_once() -> None:
    spark = Arrivals((0, ONE))
    text = refused(spark, Demand(nodes=4), master=STANDALONE, cores__max="2")
    assert spark.waited == 0
    assert "needs 4 slots, this Spark has 2 (spark.cores.max=2, spark.task.cpus=1)" in text
    assert text.endswith("Ask for fewer nodes, or raise spark.cores.max (now 2).")


def test_dynamic_allocation_is_trusted_up_to_its_limit() -> None:
    dynamic = {"dynamicAllocation__enabled": "true", "dynamicAllocation__maxExecutors": "3"}
    assert room_in(Arrivals(), Demand(nodes=3), **dynamic).is_there()
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
