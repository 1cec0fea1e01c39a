from __future__ import annotations

import pytest

from hopyard.spark.preflight.capacity import Executors, SparkSettings
from hopyard.spark.preflight.forecast import Forecast, forecast

pytestmark = pytest.mark.unit


def coming(master: str, **conf: str) -> Forecast:
    given = {f"spark.{key.replace('__', '.')}": value for key, value in conf.items()}
    return forecast(SparkSettings.of({"spark.master": master, **given}))


def groups(*sizes: tuple[int, int]) -> tuple[Executors, ...]:
    return tuple(Executors(count=count, cores=cores) for count, cores in sizes)


def test_a_local_master_has_its_threads() -> None:
    assert coming("local[3]") == Forecast(most=groups((1, 3)), promised=True)


def test_gpus_that_are_set_do_not_reach_threads() -> None:
    assert coming("local[3]", executor__resource__gpu__amount="1").most == groups((1, 3))


@pytest.mark.parametrize(
    ("conf", "most"),
    [
        ({}, groups((2, 4))),
        ({"executor__cores": "2"}, groups((4, 2))),
        ({"executor__cores": "3"}, groups((2, 3))),
        ({"cores__max": "3"}, groups((1, 2), (1, 1))),
        ({"cores__max": "1"}, groups((1, 1))),
        ({"cores__max": "20"}, groups((2, 4))),
        ({"cores__max": "5", "executor__cores": "2"}, groups((2, 2))),
    ],
)
def test_an_embedded_cluster_has_what_its_workers_hold(
    conf: dict[str, str], most: tuple[Executors, ...]
) -> None:
    assert coming("local-cluster[2,4,1024]", **conf) == Forecast(most=most, promised=True)


@pytest.mark.parametrize("master", ["yarn", "k8s://https://host:443"])
def test_a_managed_cluster_gives_what_is_asked_for(master: str) -> None:
    assert coming(master) == Forecast(most=groups((2, 1)), promised=True)
    asked = coming(master, executor__instances="5", executor__cores="3", executor__resource__gpu__amount="2")
    assert asked.most == (Executors(count=5, cores=3, gpus=2),)


def test_of_a_standalone_cluster_the_driver_knows_nothing() -> None:
    assert coming("spark://host:7077") == Forecast(most=None, promised=False)


def test_a_standalone_cluster_ignores_the_number_of_instances() -> None:
    assert coming("spark://host:7077", executor__instances="1", executor__cores="1").most is None


def test_a_standalone_cluster_gives_no_more_than_the_most_cores() -> None:
    assert coming("spark://host:7077", cores__max="5") == Forecast(most=groups((1, 5)), promised=False)
    assert coming("spark://host:7077", cores__max="5", executor__cores="2").most == groups((2, 2))


def test_gpus_of_unknown_executors_are_counted_as_many_as_there_can_be() -> None:
    found = coming("spark://host:7077", cores__max="3", executor__resource__gpu__amount="2").most
    assert found == (Executors(count=1, cores=3, gpus=6),)


def test_of_an_unknown_master_the_driver_knows_nothing() -> None:
    assert coming("elsewhere://host") == Forecast(most=None, promised=False)


DYNAMIC = {"dynamicAllocation__enabled": "true"}


@pytest.mark.parametrize("master", ["yarn", "spark://host:7077", "elsewhere://host"])
def test_dynamic_allocation_draws_no_line_by_itself(master: str) -> None:
    assert coming(master, **DYNAMIC) == Forecast(most=None, promised=True, shared=False)


@pytest.mark.parametrize(
    ("master", "conf", "most"),
    [
        ("yarn", {}, groups((3, 1))),
        ("yarn", {"executor__instances": "9", "executor__cores": "2"}, groups((3, 2))),
        ("spark://host:7077", {}, None),
        ("spark://host:7077", {"executor__cores": "2"}, groups((3, 2))),
        ("spark://host:7077", {"executor__cores": "2", "cores__max": "4"}, groups((2, 2))),
        ("spark://host:7077", {"cores__max": "4"}, groups((1, 4))),
        ("local-cluster[2,4,1024]", {"executor__cores": "1"}, groups((3, 1))),
        ("local-cluster[2,4,1024]", {}, groups((2, 4))),
        ("local-cluster[9,4,1024]", {}, groups((3, 4))),
    ],
)
def test_dynamic_allocation_stops_at_the_most_executors(
    master: str, conf: dict[str, str], most: tuple[Executors, ...] | None
) -> None:
    found = coming(master, dynamicAllocation__maxExecutors="3", **DYNAMIC, **conf)
    assert found == Forecast(most=most, promised=True, shared=False)
