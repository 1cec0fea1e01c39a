"""What needs Spark says how to install it where it is not."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

import hopyard
from hopyard.errors import CalledOnNode, MissingDependency, NoActiveSpark
from hopyard.spark.session.active import require_pyspark

pytestmark = pytest.mark.unit


def train(x: int = 1, ctx: object = None) -> float:
    return float(x)


def feed(data: object) -> None:
    with hopyard.Cluster(train, backend="processes", feed=True) as cluster:
        cluster.train(data)


def infer(data: object) -> None:
    with hopyard.Cluster(train, backend="processes", feed=True) as cluster:
        cluster.inference(data)


@pytest.mark.parametrize(
    ("call", "subject"),
    [
        (lambda: hopyard.launch(train), "a run without backend='processes'"),
        (lambda: hopyard.Cluster(train, nodes=2).start(), "a run without backend='processes'"),
        (lambda: hopyard.search(train, {"x": [1, 2, 3]}, trials=1), "a search without backend='processes'"),
        (lambda: hopyard.grid_search(train, {"x": [1, 2, 3]}), "a search without backend='processes'"),
        (hopyard.local_spark, "a Spark session"),
        (lambda: feed([1, 2]), "train()"),
        (lambda: infer([1, 2]), "inference()"),
    ],
    ids=["launch", "Cluster", "search", "grid_search", "local_spark", "train", "inference"],
)
def test_what_needs_spark_says_how_to_install_it(
    call: Callable[[], object], subject: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "pyspark.sql", raising=False)  # other tests may have imported it
    for module in ("pyspark", "hopyard.spark.session.embedded"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingDependency) as caught:
        call()
    assert str(caught.value) == f"{subject} needs the package 'pyspark': pip install 'hopyard[spark]'."


def test_where_it_is_installed_a_session_is_asked_for() -> None:
    require_pyspark("this test")
    with pytest.raises(NoActiveSpark):
        hopyard.launch(train)


@pytest.mark.parametrize(
    "call",
    [
        lambda: hopyard.launch(train),
        lambda: hopyard.grid_search(train, {"x": [1, 2, 3]}),
        hopyard.local_spark,
    ],
)
def test_a_function_on_a_node_is_told_where_to_start_others(
    call: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOPYARD_NODE", "{}")
    with pytest.raises(CalledOnNode, match="Call them in the driver program; with backend='processes'"):
        call()
