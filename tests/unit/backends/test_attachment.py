from __future__ import annotations

import pytest

from hopyard.backends.attachment import Attachment, attachment
from hopyard.spark.preflight.capacity import Executors, SparkSettings
from hopyard.spark.preflight.demand import Demand, Needs
from hopyard.spark.preflight.forecast import forecast

pytestmark = pytest.mark.unit

GPUS = {"executor__resource__gpu__amount": "1", "task__resource__gpu__amount": "1"}
DYNAMIC = {"dynamicAllocation__enabled": "true", "executor__cores": "1"}
SHRINKS = "dynamic allocation may end executors that have no tasks"
SHARED = "Spark may give the GPUs of the nodes to other tasks"


def chosen(
    master: str,
    nodes: int,
    *,
    gpus: float | None = None,
    there: tuple[Executors, ...] = (),
    **conf: str,
) -> Attachment:
    given = {f"spark.{key.replace('__', '.')}": value for key, value in conf.items()}
    settings = SparkSettings.of({"spark.master": master, **given})
    needs = Needs.of(settings, [Demand(nodes=nodes, gpus=gpus)])
    return attachment(needs, forecast(settings), there)


@pytest.mark.parametrize("nodes", [1, 2, 4])
@pytest.mark.parametrize("master", ["local[4]", "local-cluster[2,2,512]"])
def test_nodes_leave_their_tasks_where_they_lose_nothing(master: str, nodes: int) -> None:
    choice = chosen(master, nodes)
    assert (choice.detach, choice.risks) == (True, ())


def test_nodes_stay_where_executors_without_tasks_are_ended_and_more_can_come() -> None:
    choice = chosen("yarn", 4, **DYNAMIC)
    assert not choice.detach
    assert choice.reason.startswith(f"there are more slots than nodes, and {SHRINKS}")
    assert not chosen("yarn", 4, **DYNAMIC, dynamicAllocation__maxExecutors="5").detach


def test_nodes_that_would_fill_all_executors_leave_with_a_warning_that_names_the_settings() -> None:
    choice = chosen("yarn", 4, **DYNAMIC, dynamicAllocation__maxExecutors="4")
    assert choice.detach
    (risk,) = choice.risks
    assert risk.startswith(SHRINKS)
    assert "set spark.dynamicAllocation.minExecutors" in risk


def test_a_dynamic_allocation_that_keeps_all_executors_is_no_risk() -> None:
    kept = {"dynamicAllocation__maxExecutors": "4", "dynamicAllocation__minExecutors": "4"}
    choice = chosen("yarn", 4, **DYNAMIC, **kept)
    assert (choice.detach, choice.risks) == (True, ())


def test_nodes_with_gpus_of_spark_stay_if_a_task_finds_a_gpu_beside_them() -> None:
    assert not chosen("yarn", 2, **GPUS, executor__instances="3").detach
    choice = chosen("yarn", 3, **GPUS, executor__instances="3")
    assert choice.detach
    assert choice.risks[0].startswith(SHARED)


def test_free_cores_are_no_room_where_each_task_takes_a_gpu() -> None:
    assert chosen("yarn", 2, **GPUS, executor__instances="2", executor__cores="4").detach


def test_nodes_with_gpus_stay_where_other_tasks_take_none() -> None:
    only_nodes = {**GPUS, "task__resource__gpu__amount": "0"}
    assert not chosen("yarn", 2, gpus=1, **only_nodes, executor__instances="2", executor__cores="4").detach
    assert chosen("yarn", 2, gpus=1, **only_nodes, executor__instances="2", executor__cores="1").detach


def test_shares_of_gpus_that_do_not_fit_beside_whole_ones_are_no_room() -> None:
    shares = {**GPUS, "task__resource__gpu__amount": "0.25"}
    assert chosen("yarn", 2, gpus=1, **shares, executor__instances="2", executor__cores="4").detach


def test_nodes_without_a_gpu_have_none_to_lose() -> None:
    assert chosen("yarn", 2, gpus=0, **GPUS, executor__instances="3").risks == ()


def test_on_a_cluster_that_nobody_knows_the_executors_that_came_count() -> None:
    three = (Executors(count=3, cores=1, gpus=1),)
    assert not chosen("spark://host:7077", 2, there=three, **GPUS).detach
    assert chosen("spark://host:7077", 3, there=three, **GPUS).detach


def test_both_dangers_are_told() -> None:
    choice = chosen("yarn", 2, **DYNAMIC, **GPUS, dynamicAllocation__maxExecutors="2")
    assert [risk.split(" may ")[0] for risk in choice.risks] == ["dynamic allocation", "Spark"]
