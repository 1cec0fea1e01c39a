"""Modules of HopsWorks' services say what they did and what to use instead, however they are imported."""

from __future__ import annotations

import importlib
import importlib.util

import pytest

import hops
from hops.services import SERVICES
from hopyard.errors import ServiceNotOffered

pytestmark = pytest.mark.unit


@pytest.mark.parametrize("name", SERVICES)
def test_a_module_of_a_service_says_what_to_use_instead(name: str) -> None:
    with pytest.raises(ServiceNotOffered, match=rf"^hops\.{name} .*HopsWorks.* Instead, ") as refused:
        importlib.import_module(f"hops.{name}")
    assert str(refused.value).count("\n") == 0


@pytest.mark.parametrize(
    "statement",
    ["from hops import kafka", "import hops.kafka", "from hops.kafka import get_broker_endpoints"],
)
def test_every_way_to_import_one_gives_the_same_sentence(statement: str) -> None:
    for _ in range(2):
        with pytest.raises(ServiceNotOffered, match="Kafka brokers"):
            exec(statement, {})


def test_a_program_that_tries_goes_on() -> None:
    try:
        from hops import featurestore
    except ImportError:
        featurestore = None
    assert featurestore is None


def test_a_module_that_never_was_is_not_found_as_ever() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"hops\.no_such"):
        importlib.import_module("hops.no_such")
    with pytest.raises(ImportError, match="cannot import name"):
        exec("from hops import no_such", {})
    assert importlib.util.find_spec("kafka_of_somebody") is None


def test_no_module_that_is_there_is_listed() -> None:
    for name in ("experiment", "hdfs", "logger", "numpy_helper", "pandas_helper", "tensorboard", "util"):
        assert name not in SERVICES
        assert importlib.util.find_spec(f"hops.{name}") is not None


def test_programs_can_compare_the_version() -> None:
    assert hops.__version__.split(".") >= ["2", "0"]


def test_modules_of_tensorflowonspark_are_the_same_ones() -> None:
    from hops.tensorflowonspark.TFNode import DataFeed

    import tensorflowonspark.TFNode

    assert DataFeed is tensorflowonspark.TFNode.DataFeed
    for name in ("TFCluster", "TFManager", "TFSparkNode", "gpu_info", "marker", "reservation", "util"):
        importlib.import_module(f"hops.tensorflowonspark.{name}")


@pytest.mark.parametrize("name", ["dfutil", "pipeline"])
def test_modules_of_tensorflowonspark_that_are_not_there_yet_say_so(name: str) -> None:
    with pytest.raises(ImportError, match=f"no tensorflowonspark.{name} in Hopyard yet"):
        importlib.import_module(f"hops.tensorflowonspark.{name}")
