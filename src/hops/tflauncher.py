"""The first name of `hops.experiment`; ``from hops import tflauncher``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hops import experiment
from hops.calls import takes_spark


@takes_spark
def launch(
    map_fun: Callable[..., Any],
    args_dict: Mapping[str, Sequence[Any]] | None = None,
    *,
    spark: Any = None,
) -> str:
    """Runs a function on an executor and returns the folder of the run; see `hops.experiment.launch`."""
    return experiment.launch(map_fun, args_dict, spark=spark)
