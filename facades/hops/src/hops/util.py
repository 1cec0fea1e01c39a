"""Facts of the session and small calculations; ``from hops import util``."""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hops.calls import takes_spark
from hopyard.errors import MissingDependency, NoActiveSpark
from hopyard.spark.session import SessionSettings, active_context
from hopyard.wire.address import routable_address

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession


@takes_spark
def num_executors(*, spark: SparkSession | SparkContext | None = None) -> int:
    """Returns the number of executors that the session was configured with; the session may be given."""
    return _settings(spark).num_executors


@takes_spark
def num_param_servers(*, spark: SparkSession | SparkContext | None = None) -> int:
    """Returns the number of parameter servers that the session was configured with."""
    return _settings(spark).parameter_servers


def grid_params(params: Mapping[str, Iterable[Any]]) -> dict[str, list[Any]]:
    """Returns the combinations of all values, as one list for each parameter; the last one changes fastest."""
    combinations = list(itertools.product(*params.values()))
    return {name: [values[index] for values in combinations] for index, name in enumerate(params)}


def find_tensorboard() -> str:
    """Returns the path of TensorBoard's main program.

    Raises:
        MissingDependency: It is not installed.
    """
    spec = importlib.util.find_spec("tensorboard")
    if spec is None or spec.origin is None:
        raise MissingDependency("tensorboard", "util.find_tensorboard()", "tensorboard")
    return str(Path(spec.origin).with_name("main.py"))


def get_ip_address() -> str:
    """Returns the address of this machine that others reach it by."""
    return routable_address()


def _settings(spark: SparkSession | SparkContext | None) -> SessionSettings:
    context = spark or active_context()
    if context is None:
        raise NoActiveSpark
    return SessionSettings.from_spark(context)
