"""A function with one combination of arguments, which is a run, or with several, which run in parallel."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hops.failures import raise_failed
from hops.label import Label, has_tensorboard
from hopyard.training.launch import launch as run
from hopyard.training.result import RunResult

if TYPE_CHECKING:
    from hopyard.search.study import Study

KIND = "launcher"


def launch_each(
    function: Callable[..., Any], args_dict: Mapping[str, Iterable[Any]], label: Label, spark: Any
) -> RunResult | Study:
    """Runs a function with the first value of each list, with the second of each, and so on; returns what came of it.

    Args:
        function: The training function.
        args_dict: A list of values for each of its arguments, all of one length; may be empty.
        label: What the run is called.
        spark: The session; the active one if None.

    Raises:
        ValueError: The lists are not of one length.
        NodeFailed: The function failed with one of the combinations, or with several.
    """
    lists = listed(args_dict)
    lengths = {len(values) for values in lists.values()}
    if len(lengths) > 1:
        raise ValueError("Length of each function argument list must be equal")
    if lengths and lengths != {1}:
        return _launch_rows(function, lists, label, spark)
    return run(
        function,
        {name: values[0] for name, values in lists.items()} or None,
        kind=KIND,
        name=label.name,
        description=label.description,
        spark=spark,
        tensorboard=has_tensorboard(),
    )


def listed(args_dict: Mapping[str, Iterable[Any]]) -> dict[str, Sequence[Any]]:
    """Returns arguments with their values as lists, whatever they came in."""
    return {name: list(values) for name, values in args_dict.items()}


def _launch_rows(
    function: Callable[..., Any], lists: Mapping[str, Sequence[Any]], label: Label, spark: Any
) -> Study:
    from hopyard.search.api import run_search
    from hopyard.search.options import SearchOptions
    from hopyard.search.reading import Lists
    from hopyard.search.rows import RowsSampler
    from hopyard.search.space import Space
    from hopyard.search.trial_result import Wanted

    space = Space.of(lists, lists=Lists.VALUES)
    options = SearchOptions(
        kind=KIND,
        name=label.name,
        description=label.description,
        spark=spark,
        tensorboard=has_tensorboard(),
    )
    rows = RowsSampler(space.rows(lists))
    study = run_search(function, space, rows, {}, None, Wanted.ANYTHING, options)
    raise_failed(study, most=0)
    return study
