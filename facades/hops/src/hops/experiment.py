"""Runs training functions; ``from hops import experiment``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hops import util
from hops.calls import takes_spark
from hops.driver_run import begin, end
from hops.eras import Direction, Era, Returned, era_of, of_run
from hops.evolutions import differential_evolution, evolutionary_search
from hops.label import NO_NAME, Label
from hops.launches import launch_each, run
from hops.names import takes_names
from hops.returned_files import keeping
from hops.searches import grid_search, random_search
from hops.tensorflowonspark import TFCluster
from hopyard.errors import InvalidSessionSetting

__all__ = [
    "Direction",
    "TFCluster",
    "allreduce",
    "begin",
    "collective_all_reduce",
    "differential_evolution",
    "end",
    "evolutionary_search",
    "grid_search",
    "launch",
    "mirrored",
    "parameter_server",
    "random_search",
]

_PARAMETER_SERVERS = "spark.tensorflow.num.ps"


@takes_spark
@takes_names(train_fn="map_fun")
def launch(
    map_fun: Callable[..., Any],
    args_dict: Mapping[str, Sequence[Any]] | None = None,
    name: str = NO_NAME,
    local_logdir: bool = False,
    versioned_resources: Sequence[str] | None = None,
    description: str | None = None,
    metric_key: str | None = None,
    *,
    spark: Any = None,
    names: frozenset[str] = frozenset(),
) -> Returned:
    """Runs a function on an executor, or with several combinations of arguments on several; returns the run's folder.

    A TensorBoard shows the run while it goes on, where TensorBoard is installed; its address is in the
    run's record (``hopyard runs``).

    Call it with or without the Spark session in front. In calls of release 1.1 and later what the function returned
    comes with the folder; see ``docs/migrating-from-hops.md``.

    Args:
        map_fun: The training function.
        args_dict: A list of values for each of its arguments, all of one length: one trial for each index.
        name: A name for the run.
        local_logdir: Without effect: `hops.tensorboard.logdir` is always local, and always copied.
        versioned_resources: Files of the project that are copied into the run's folder.
        description: Free text that is kept with the run.
        metric_key: What the metric of the run is called in a dict that the function returns; all of it is kept.
        spark: The session; the active one if not given.
        names: What the arguments were called; given by the decorator.

    Raises:
        NodeFailed: The function failed; the error has its traceback and last lines of output.
        ValueError: The lists are not of one length.
        PathNotFound: One of the resources is not there.
    """
    era = era_of(names)
    label = Label.of(name, versioned_resources, description)
    return of_run(launch_each(keeping(map_fun, era), args_dict or {}, label, spark, metric_key), era)


@takes_spark
@takes_names(train_fn="map_fun")
def parameter_server(
    map_fun: Callable[[], Any],
    name: str = NO_NAME,
    local_logdir: bool = False,
    versioned_resources: Sequence[str] | None = None,
    description: str | None = None,
    evaluator: bool = False,
    metric_key: str | None = None,
    *,
    spark: Any = None,
    names: frozenset[str] = frozenset(),
) -> Returned:
    """Runs a function on all executors of the session, some of them parameter servers; returns the run's folder.

    TF_CONFIG is set. The run is done when the chief has returned: TensorFlow 2's workers and parameter servers
    serve it without an end.

    Args:
        map_fun: The training function, without arguments.
        name: A name for the run.
        local_logdir: Without effect.
        versioned_resources: Files of the project that are copied into the run's folder.
        description: Free text that is kept with the run.
        evaluator: Whether one of the executors evaluates.
        metric_key: What the metric of the run is called in a dict that the chief returns; all of it is kept.
        spark: The session; the active one if not given.
        names: What the arguments were called; given by the decorator.

    Raises:
        InvalidSessionSetting: The session has no parameter servers.
        NodeFailed: A node failed; the error has its traceback and last lines of output.
    """
    servers = util.num_param_servers(spark=spark)
    if not servers:
        remedy = "start the session with some, or call collective_all_reduce()"
        raise InvalidSessionSetting(_PARAMETER_SERVERS, "0", remedy)
    label = Label.of(name, versioned_resources, description, evaluator)
    nodes = util.num_executors(spark=spark)
    return _distribute(map_fun, "parameter_server", label, nodes, servers, spark, era_of(names), metric_key)


@takes_spark
@takes_names(train_fn="map_fun")
def collective_all_reduce(
    map_fun: Callable[[], Any],
    name: str = NO_NAME,
    local_logdir: bool = False,
    versioned_resources: Sequence[str] | None = None,
    description: str | None = None,
    evaluator: bool = False,
    metric_key: str | None = None,
    *,
    spark: Any = None,
    names: frozenset[str] = frozenset(),
) -> Returned:
    """Runs a function on all executors of the session, a chief and workers; returns the run's folder.

    TF_CONFIG is set, so that ``tf.distribute.MultiWorkerMirroredStrategy()`` finds the others. The arguments are
    those of `parameter_server`.

    Raises:
        InvalidSessionSetting: The session has parameter servers.
        NodeFailed: A node failed; the error has its traceback and last lines of output.
    """
    label = Label.of(name, versioned_resources, description, evaluator)
    _refuse_parameter_servers(spark)
    nodes = util.num_executors(spark=spark)
    return _distribute(map_fun, "collective_all_reduce", label, nodes, 0, spark, era_of(names), metric_key)


allreduce = collective_all_reduce  # its name in 2.6.6 to 2.7


@takes_spark
@takes_names(train_fn="map_fun")
def mirrored(
    map_fun: Callable[[], Any],
    name: str = NO_NAME,
    local_logdir: bool = False,
    versioned_resources: Sequence[str] | None = None,
    description: str | None = None,
    evaluator: bool = False,
    metric_key: str | None = None,
    *,
    spark: Any = None,
    names: frozenset[str] = frozenset(),
) -> Returned:
    """Runs a function on one executor, with all its GPUs, for ``tf.distribute.MirroredStrategy()``.

    Returns the run's folder. The arguments are those of `parameter_server`; an evaluator has an executor of its own.

    Raises:
        InvalidSessionSetting: The session has parameter servers.
        NodeFailed: A node failed; the error has its traceback and last lines of output.
    """
    label = Label.of(name, versioned_resources, description, evaluator)
    _refuse_parameter_servers(spark)
    return _distribute(map_fun, "mirrored", label, 1 + label.evaluator, 0, spark, era_of(names), metric_key)


def _refuse_parameter_servers(spark: Any) -> None:
    servers = util.num_param_servers(spark=spark)
    if servers:
        remedy = "start the session without, or call parameter_server()"
        raise InvalidSessionSetting(_PARAMETER_SERVERS, str(servers), remedy)


def _distribute(
    map_fun: Callable[[], Any],
    kind: str,
    label: Label,
    nodes: int,
    servers: int,
    spark: Any,
    era: Era,
    metric_key: str | None,
) -> Returned:
    result = run(
        keeping(map_fun, era), None, label, spark, kind, nodes=nodes, servers=servers, metric_key=metric_key
    )
    return of_run(result, era)
