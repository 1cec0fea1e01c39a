"""Runs training functions; ``from hops import experiment``."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hops.calls import takes_spark
from hopyard.errors import NotOffered
from hopyard.training.launch import launch as run

_NO_NAME = "no-name"


@takes_spark
def launch(
    map_fun: Callable[..., Any],
    args_dict: Mapping[str, Sequence[Any]] | None = None,
    name: str = _NO_NAME,
    local_logdir: bool = False,
    versioned_resources: Sequence[str] | None = None,
    description: str | None = None,
    *,
    spark: Any = None,
) -> str:
    """Runs a function on an executor and returns the folder of the run.

    A TensorBoard shows the run while it goes on, where TensorBoard is installed; its address is in the
    run's record (``hopyard runs``).

    Call it with or without the Spark session in front.

    Args:
        map_fun: The training function.
        args_dict: A list of values for each of its arguments, all of one length.
        name: A name for the run.
        local_logdir: Without effect: `hops.tensorboard.logdir` is always local, and always copied.
        versioned_resources: Not offered.
        description: Free text that is kept with the run.
        spark: The session; the active one if not given.

    Raises:
        NodeFailed: The function failed; the error has its traceback and last lines of output.
        ValueError: The lists are not of one length.
        NotOffered: More than one combination of arguments, or `versioned_resources`.
    """
    if versioned_resources:
        raise NotOffered("versioned_resources", "copy what belongs to a run to tensorboard.logdir() instead")
    arguments = _single_combination(args_dict or {})
    return run(
        map_fun,
        arguments,
        name=None if name == _NO_NAME else name,
        description=description or "",
        spark=spark,
        tensorboard=importlib.util.find_spec("tensorboard") is not None,
    ).logdir


def _single_combination(args_dict: Mapping[str, Sequence[Any]]) -> dict[str, Any] | None:
    if not args_dict:
        return None
    lengths = {len(values) for values in args_dict.values()}
    if len(lengths) > 1:
        raise ValueError("Length of each function argument list must be equal")
    if lengths != {1}:
        raise NotOffered(
            f"launch() with {lengths.pop()} combinations of arguments",
            "parallel trials are coming; until then call it once for each, with lists of one value",
        )
    return {name: values[0] for name, values in args_dict.items()}
