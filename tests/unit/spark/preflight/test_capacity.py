from __future__ import annotations

from decimal import Decimal

import pytest

from hopyard.spark.preflight.capacity import Executors, Master, SparkSettings, slots

pytestmark = pytest.mark.unit

ONE = Decimal(1)


def settings(master: str = "yarn", processors: int = 8, **conf: str) -> SparkSettings:
    given = {f"spark.{key.replace('__', '.')}": value for key, value in conf.items()}
    return SparkSettings.of({"spark.master": master, **given}, processors=processors)


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("local", Master.LOCAL),
        ("local[4]", Master.LOCAL),
        ("local[*]", Master.LOCAL),
        ("local[2, 3]", Master.LOCAL),
        ("local-cluster[2,1,1024]", Master.LOCAL_CLUSTER),
        ("local-cluster[2, 1, 1024]", Master.LOCAL_CLUSTER),
        ("spark://host:7077", Master.STANDALONE),
        ("spark://one:7077,two:7077", Master.STANDALONE),
        ("yarn", Master.MANAGED),
        ("k8s://https://host:443", Master.MANAGED),
        ("elsewhere://host", Master.OTHER),
    ],
)
def test_master_is_known_by_its_url(url: str, kind: Master) -> None:
    assert Master.of(url) is kind


@pytest.mark.parametrize(
    ("master", "threads"), [("local", 1), ("local[3]", 3), ("local[*]", 8), ("local[2,5]", 2)]
)
def test_threads_of_a_local_master_are_in_its_url(master: str, threads: int) -> None:
    assert settings(master).threads == threads


@pytest.mark.parametrize(
    ("cores", "cpus", "tasks"),
    [(4, "1", 4), (4, "2", 2), (3, "2", 1), (1, "2", 0), (3, "0.1", 30), (3, "1.5", 2)],
)
def test_an_executor_runs_as_many_tasks_as_its_cores_allow(cores: int, cpus: str, tasks: int) -> None:
    assert Executors(count=1, cores=cores).slots(Decimal(cpus), 0) == tasks


@pytest.mark.parametrize(
    ("gpus", "each", "tasks"),
    [
        (1, 1, 1),
        (2, 1, 2),
        (4, 2, 2),
        (3, 2, 1),
        (1, 0.5, 2),
        (1, 0.1, 10),
        (2, 0.4, 4),
        (1, 0.6, 1),
        (0, 0.1, 0),
    ],
)
def test_an_executor_runs_as_many_tasks_as_its_gpus_allow(gpus: int, each: float, tasks: int) -> None:
    assert Executors(count=1, cores=16, gpus=gpus).slots(ONE, each) == tasks


def test_cores_limit_the_tasks_that_share_a_gpu() -> None:
    assert Executors(count=1, cores=2, gpus=1).slots(ONE, 0.1) == 2


def test_slots_of_executors_of_different_size_add_up() -> None:
    assert slots([Executors(count=2, cores=3), Executors(count=1, cores=1)], Decimal(2), 0) == 2


def test_executors_read_like_a_sentence() -> None:
    assert str(Executors(count=1, cores=2)) == "1 executor x 2 cores"
    assert str(Executors(count=2, cores=1, gpus=1)) == "2 executors x 1 core and 1 GPU"


def test_settings_that_are_not_set_have_the_defaults_of_yarn_and_kubernetes() -> None:
    found = settings("yarn")
    assert (found.instances, found.executor_cores) == (2, 1)
    assert (found.task_cpus, found.task_gpus, found.executor_gpus) == (ONE, 0, 0)


def test_a_standalone_master_has_no_defaults_that_a_driver_knows() -> None:
    found = settings("spark://host:7077")
    assert (found.instances, found.executor_cores, found.cores_max) == (None, None, None)


def test_dynamic_allocation_is_off_for_threads() -> None:
    assert settings("yarn", dynamicAllocation__enabled="TRUE").dynamic
    assert not settings("local[2]", dynamicAllocation__enabled="true").dynamic


def test_speculation_is_off_unless_it_is_set() -> None:
    assert not settings().speculation
    assert settings(speculation="true").speculation


def test_the_largest_number_of_executors_means_no_limit() -> None:
    assert settings(dynamicAllocation__maxExecutors="2147483647").max_executors is None


GPUS = {"executor__resource__gpu__amount": "1", "task__resource__gpu__amount": "1"}


@pytest.mark.parametrize(("asked", "taken"), [(None, 1), (1, 1), (0, 0), (0.1, 0.1), (0.7, 0.7)])
def test_a_node_gets_the_gpus_it_asks_for(asked: float | None, taken: float) -> None:
    assert settings(**GPUS).gpus_of_task(asked) == taken


@pytest.mark.parametrize("asked", [None, 0, 0.5, 1, 2])
def test_spark_takes_no_gpus_for_a_node_where_executors_have_none(asked: float | None) -> None:
    assert settings().gpus_of_task(asked) == 0


@pytest.mark.parametrize("asked", [None, 0, 1])
def test_tasks_of_a_local_master_want_what_the_session_says_although_it_has_none(asked: float | None) -> None:
    assert settings("local[2]", **GPUS).gpus_of_task(asked) == 1


def test_a_share_over_a_half_is_a_whole_gpu_with_dynamic_allocation() -> None:
    assert settings(dynamicAllocation__enabled="true", **GPUS).gpus_of_task(0.7) == 1
    assert settings(dynamicAllocation__enabled="true", **GPUS).gpus_of_task(0.5) == 0.5


@pytest.mark.parametrize("asked", [-1, 1.5])
def test_an_amount_that_is_no_share_and_no_number_of_gpus_is_refused(asked: float) -> None:
    with pytest.raises(ValueError, match="whole number"):
        settings(**GPUS).gpus_of_task(asked)


@pytest.mark.parametrize(
    ("conf", "may_shrink"),
    [
        ({}, False),
        ({"dynamicAllocation__enabled": "true"}, True),
        ({"dynamicAllocation__enabled": "true", "dynamicAllocation__maxExecutors": "4"}, True),
        (
            {
                "dynamicAllocation__enabled": "true",
                "dynamicAllocation__maxExecutors": "4",
                "dynamicAllocation__minExecutors": "4",
            },
            False,
        ),
    ],
)
def test_executors_may_go_unless_their_least_number_is_their_largest(
    conf: dict[str, str], may_shrink: bool
) -> None:
    assert settings(**conf).may_shrink is may_shrink
