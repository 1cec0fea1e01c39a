"""The first name of `hops.experiment`; ``from hops import tflauncher``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hops.calls import takes_spark
from hops.label import Label
from hops.launches import launch_each


@takes_spark
def launch(
    map_fun: Callable[..., Any],
    args_dict: Mapping[str, Sequence[Any]] | None = None,
    *,
    spark: Any = None,
) -> str:
    """Runs a function on an executor and returns the folder of the run; see `hops.experiment.launch`."""
    return launch_each(map_fun, args_dict or {}, Label(), spark).logdir
