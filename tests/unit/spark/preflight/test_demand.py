from __future__ import annotations

from decimal import Decimal
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopyard.spark.preflight.capacity import Executors, SparkSettings
from hopyard.spark.preflight.demand import Demand, Needs, Shortage

pytestmark = pytest.mark.unit

PLAIN = SparkSettings(master="yarn")
WITH_GPUS = SparkSettings(master="yarn", executor_gpus=1, task_gpus=1)


def needs(*demands: tuple[int, float | None], settings: SparkSettings = WITH_GPUS) -> Needs:
    return Needs.of(settings, [Demand(nodes=nodes, gpus=gpus) for nodes, gpus in demands])


def test_needs_are_counted_by_what_spark_will_take() -> None:
    assert needs((2, None), (1, 1), (3, 0), (1, 0.5)).nodes == ((1, 3), (0.5, 1), (0, 3))


def test_gpus_that_spark_does_not_hand_out_are_not_counted() -> None:
    assert needs((2, 1), (1, 0), settings=PLAIN).nodes == ((0, 3),)


def test_as_many_nodes_as_slots_fit() -> None:
    assert needs((4, None), settings=PLAIN).shortage([Executors(count=2, cores=2)]) is None


def test_one_node_too_many_is_a_shortage() -> None:
    lacking = needs((5, None), settings=PLAIN).shortage([Executors(count=2, cores=2)])
    assert lacking == Shortage(needed=5, found=4)


def test_tasks_that_take_two_cores_halve_the_slots() -> None:
    settings = SparkSettings(master="yarn", task_cpus=Decimal(2))
    lacking = needs((3, None), settings=settings).shortage([Executors(count=2, cores=3)])
    assert lacking == Shortage(needed=3, found=2)


def test_nodes_with_and_without_gpus_share_the_cores() -> None:
    executors = [Executors(count=2, cores=2, gpus=1)]
    assert needs((2, 1), (2, 0)).shortage(executors) is None
    assert needs((2, 1), (3, 0)).shortage(executors) == Shortage(needed=5, found=4)


def test_gpus_can_lack_where_cores_suffice() -> None:
    lacking = needs((3, 1), (1, 0)).shortage([Executors(count=2, cores=2, gpus=1)])
    assert lacking == Shortage(needed=3, found=2, gpus=1)


def test_a_node_cannot_have_gpus_of_two_executors() -> None:
    lacking = needs((1, 2)).shortage([Executors(count=2, cores=2, gpus=1)])
    assert lacking == Shortage(needed=1, found=0, gpus=2)


def test_kinds_that_have_executors_of_their_own_do_not_share_cores() -> None:
    executors = [Executors(count=2, cores=1, gpus=1)]
    assert needs((2, 1), (2, 0)).shortage(executors, shared=False) is None
    assert needs((2, 1), (3, 0)).shortage(executors, shared=False) == Shortage(needed=3, found=2)


def test_no_executors_have_no_room() -> None:
    assert needs((1, 0)).shortage([]) == Shortage(needed=1, found=0)


def test_a_demand_for_no_nodes_needs_nothing() -> None:
    assert needs((0, 1), (0, 0)).shortage([]) is None


def placed(executors: list[Executors], with_gpu: int, without: int) -> bool:
    """Whether some way to spread the nodes over the executors exists, found by trying all of them."""
    choices = [range(min(each.cores, each.gpus) + 1) for each in executors]
    free = [
        sum(each.cores for each in executors) - sum(way) for way in product(*choices) if sum(way) == with_gpu
    ]
    return any(room >= without for room in free)


EXECUTORS = st.lists(
    st.builds(Executors, count=st.just(1), cores=st.integers(1, 3), gpus=st.integers(0, 3)), max_size=3
)


@given(EXECUTORS, st.integers(0, 6), st.integers(0, 6))
def test_a_plan_fits_if_and_only_if_its_nodes_can_be_placed(
    executors: list[Executors], with_gpu: int, without: int
) -> None:
    found = needs((with_gpu, 1), (without, 0)).shortage(executors)
    assert (found is None) == placed(executors, with_gpu, without)
