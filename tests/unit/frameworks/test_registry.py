from __future__ import annotations

from types import ModuleType, SimpleNamespace
from typing import Any, cast

import pytest

from hopyard.frameworks.registry import (
    NAMES,
    cluster_variables,
    explained,
    forget_all,
    loaded,
    log_patterns,
)
from hopyard.protocol.cluster_map import ClusterMap
from hopyard.protocol.plan import Plan

pytestmark = pytest.mark.unit

KERAS_3 = "Argument(s) not recognized: {'lr': 0.1}"


def having(**modules: Any) -> dict[str, ModuleType]:
    return cast("dict[str, ModuleType]", modules)


def of_tensorflow(text: str) -> Exception:
    """Returns an error whose class is one of TensorFlow."""
    error: Exception = type("UnknownError", (Exception,), {"__module__": "tensorflow.python.errors"})(text)
    return error


def test_frameworks_that_are_not_loaded_are_not_asked() -> None:
    assert list(loaded(having(numpy=SimpleNamespace()))) == []


def test_a_framework_whose_import_was_barred_is_not_loaded() -> None:
    assert list(loaded(having(torch=None))) == []


def test_only_the_named_frameworks_are_told_of_the_cluster() -> None:
    plan = Plan.of(2)
    cluster = ClusterMap.of({node: f"h:{node.rank}" for node in plan.nodes})
    assert set(cluster_variables(NAMES, plan.nodes[0], cluster)) == {"TF_CONFIG"}
    assert cluster_variables(("torch",), plan.nodes[0], cluster) == {}


def test_an_error_that_hides_another_is_replaced_by_it_and_that_one_gets_the_advice() -> None:
    cause = ValueError(KERAS_3)
    modules = having(
        tensorflow=SimpleNamespace(__version__="2.21"), keras=SimpleNamespace(__version__="3.15")
    )
    told = explained(of_tensorflow(f"ValueError: {KERAS_3}\nTraceback"), (KeyError("x"), cause), modules)
    assert told is cause
    assert "TF_USE_LEGACY_KERAS=1" in told.__notes__[0]


def test_an_error_that_hides_none_is_the_one_that_is_shown() -> None:
    error = of_tensorflow("OutOfRangeError")
    assert explained(error, (ValueError("x"),), having(tensorflow=SimpleNamespace())) is error


def test_without_a_framework_an_error_stays_what_it_is() -> None:
    error = ValueError(KERAS_3)
    assert explained(error, (), having()) is error
    assert not hasattr(error, "__notes__")


def test_a_framework_drops_what_it_keeps_of_a_trial() -> None:
    dropped: list[str] = []
    keras = SimpleNamespace(backend=SimpleNamespace(clear_session=lambda: dropped.append("keras")))
    forget_all(having(keras=keras, torch=SimpleNamespace()))
    assert dropped == ["keras"]


def test_what_frameworks_write_of_themselves_is_known() -> None:
    chatter, retold = log_patterns()
    assert any(
        pattern.search("I0000 00:00:1795016790.602359    4241 cpu.cc:227] hello") for pattern in chatter
    )
    assert retold
