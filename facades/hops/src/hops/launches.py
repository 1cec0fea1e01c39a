"""A function with one combination of arguments, which is a run, or with several, which run in parallel."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any

from hops.failures import raise_failed
from hops.label import Label, has_tensorboard
from hops.resources import versioned
from hops.summary import keep_metric
from hopyard.run.cluster import Cluster
from hopyard.run.result import RunResult
from tensorflowonspark.notice import tell_where

if TYPE_CHECKING:
    from hopyard.search.space.parameters import Range
    from hopyard.search.study.study import Study

KIND = "launcher"


def launch_each(
    function: Callable[..., Any],
    args_dict: Mapping[str, Iterable[Any]],
    label: Label,
    spark: Any,
    metric_key: str | None = None,
) -> RunResult | Study:
    """Runs a function with the first value of each list, with the second of each, and so on; returns what came of it.

    Args:
        function: The training function.
        args_dict: A list of values for each of its arguments, all of one length; may be empty.
        label: What the run is called.
        spark: The session; the active one if None.
        metric_key: As for `run`.

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
    args = {name: values[0] for name, values in lists.items()}
    return run(function, args or None, label, spark, KIND, metric_key=metric_key)


def run(
    function: Callable[..., Any],
    args: Mapping[str, Any] | None,
    label: Label,
    spark: Any,
    kind: str,
    *,
    nodes: int = 1,
    servers: int = 0,
    metric_key: str | None = None,
) -> RunResult:
    """Runs a function on nodes, with a TensorBoard where that is installed; returns what came of it.

    Args:
        function: The training function.
        args: Its arguments by name.
        label: What the run is called, and the files that are copied into it.
        spark: The session; the active one if None.
        kind: The folder that groups runs of this kind.
        nodes: How many nodes there are in all.
        servers: How many of them are parameter servers.
        metric_key: What the metric of the run is called in a dict that the function returns.

    Raises:
        PathNotFound: One of the files is not there.
        NodeFailed: A node failed; the error has its traceback and last lines of output.
    """
    cluster = Cluster(
        function,
        args,
        nodes,
        ps=servers,
        evaluator=label.evaluator,
        kind=kind,
        name=label.name,
        description=label.description,
        spark=spark,
        tensorboard=has_tensorboard(),
    )
    with versioned(label.resources) as resources, cluster:
        tell_where(cluster)
        resources.copy_to(cluster.logdir)
        result = cluster.wait()
    keep_metric(result, metric_key)
    return result


def listed(args_dict: Mapping[str, Iterable[Any]]) -> dict[str, Sequence[Any]]:
    """Returns arguments with their values as lists, whatever they came in."""
    return {name: list(values) for name, values in args_dict.items()}


def between(boundary_dict: Mapping[str, Iterable[Any]]) -> dict[str, Range | list[Any]]:
    """Returns bounds as ranges: two numbers in either order, as the old library took them; other lists are values."""
    return {name: _range(list(values)) for name, values in boundary_dict.items()}


def _range(values: list[Any]) -> Range | list[Any]:
    from hopyard.search.space.parameters import Range, is_number

    if len(values) != 2 or not all(map(is_number, values)):
        return values
    low, high = sorted(values)
    # 0 and 1 meant these two; without a step Range refuses them, since in a new program all between may be meant
    is_pair = isinstance(low, Integral) and isinstance(high, Integral) and high - low == 1
    return Range(low, high, step=1 if is_pair else None)


def _launch_rows(
    function: Callable[..., Any], lists: Mapping[str, Sequence[Any]], label: Label, spark: Any
) -> Study:
    from hopyard.search.options import SearchOptions
    from hopyard.search.request import SearchRequest
    from hopyard.search.samplers.fixed_rows import RowsSampler
    from hopyard.search.space.space import Space
    from hopyard.search.study.names import fresh_name
    from hopyard.search.trial.result import Wanted
    from hopyard.store import Project

    space = Space.of(lists)
    options = SearchOptions(
        kind=KIND,
        name=None if label.name is None else fresh_name(Project.open(), label.name),
        description=label.description,
        spark=spark,
        tensorboard=has_tensorboard(),
    )
    rows = RowsSampler(space.rows(lists))
    request = SearchRequest(
        fn=function,
        space=space,
        sampler=rows,
        sampler_options={},
        wanted=Wanted.ANYTHING,
        options=options,
    )
    with versioned(label.resources) as resources:
        study = request.run()
        resources.copy_to(study.logdir)
    raise_failed(study, most=0)
    return study
