"""Runs training functions; ``from hops import experiment``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hops import util
from hops.calls import takes_spark
from hops.label import NO_NAME, Label, has_tensorboard
from hopyard.errors import InvalidSessionSetting, NotOffered
from hopyard.training.launch import launch as run

_PARAMETER_SERVERS = "spark.tensorflow.num.ps"


@takes_spark
def launch(
    map_fun: Callable[..., Any],
    args_dict: Mapping[str, Sequence[Any]] | None = None,
    name: str = NO_NAME,
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
    label = Label.of(name, versioned_resources, description)
    arguments = _single_combination(args_dict or {})
    return run(
        map_fun,
        arguments,
        name=label.name,
        description=label.description,
        spark=spark,
        tensorboard=has_tensorboard(),
    ).logdir


@takes_spark
def parameter_server(
    map_fun: Callable[[], Any],
    name: str = NO_NAME,
    local_logdir: bool = False,
    versioned_resources: Sequence[str] | None = None,
    description: str | None = None,
    evaluator: bool = False,
    *,
    spark: Any = None,
) -> str:
    """Runs a function on all executors of the session, some of them parameter servers; returns the run's folder.

    TF_CONFIG is set. The run is done when the chief has returned: TensorFlow 2's workers and parameter servers
    serve it without an end.

    Args:
        map_fun: The training function, without arguments.
        name: A name for the run.
        local_logdir: Without effect.
        versioned_resources: Not offered.
        description: Free text that is kept with the run.
        evaluator: Whether one of the executors evaluates.
        spark: The session; the active one if not given.

    Raises:
        InvalidSessionSetting: The session has no parameter servers.
        NodeFailed: A node failed; the error has its traceback and last lines of output.
    """
    servers = util.num_param_servers(spark=spark)
    if not servers:
        remedy = "start the session with some, or call collective_all_reduce()"
        raise InvalidSessionSetting(_PARAMETER_SERVERS, "0", remedy)
    label = Label.of(name, versioned_resources, description, evaluator)
    return _distribute(map_fun, "parameter_server", label, util.num_executors(spark=spark), servers, spark)


@takes_spark
def collective_all_reduce(
    map_fun: Callable[[], Any],
    name: str = NO_NAME,
    local_logdir: bool = False,
    versioned_resources: Sequence[str] | None = None,
    description: str | None = None,
    evaluator: bool = False,
    *,
    spark: Any = None,
) -> str:
    """Runs a function on all executors of the session, a chief and workers; returns the run's folder.

    TF_CONFIG is set, so that ``tf.distribute.MultiWorkerMirroredStrategy()`` finds the others. The arguments are
    those of `parameter_server`.

    Raises:
        InvalidSessionSetting: The session has parameter servers.
        NodeFailed: A node failed; the error has its traceback and last lines of output.
    """
    label = Label.of(name, versioned_resources, description, evaluator)
    _refuse_parameter_servers(spark)
    return _distribute(map_fun, "collective_all_reduce", label, util.num_executors(spark=spark), 0, spark)


allreduce = collective_all_reduce  # its name in 2.6.6 to 2.7


@takes_spark
def mirrored(
    map_fun: Callable[[], Any],
    name: str = NO_NAME,
    local_logdir: bool = False,
    versioned_resources: Sequence[str] | None = None,
    description: str | None = None,
    evaluator: bool = False,
    *,
    spark: Any = None,
) -> str:
    """Runs a function on one executor, with all its GPUs, for ``tf.distribute.MirroredStrategy()``.

    Returns the run's folder. The arguments are those of `parameter_server`; an evaluator has an executor of its own.

    Raises:
        InvalidSessionSetting: The session has parameter servers.
        NodeFailed: A node failed; the error has its traceback and last lines of output.
    """
    label = Label.of(name, versioned_resources, description, evaluator)
    _refuse_parameter_servers(spark)
    return _distribute(map_fun, "mirrored", label, 1 + label.evaluator, 0, spark)


def _refuse_parameter_servers(spark: Any) -> None:
    servers = util.num_param_servers(spark=spark)
    if servers:
        remedy = "start the session without, or call parameter_server()"
        raise InvalidSessionSetting(_PARAMETER_SERVERS, str(servers), remedy)


def _distribute(
    map_fun: Callable[[], Any], kind: str, label: Label, nodes: int, servers: int, spark: Any
) -> str:
    return run(
        map_fun,
        nodes=nodes,
        ps=servers,
        evaluator=label.evaluator,
        kind=kind,
        name=label.name,
        description=label.description,
        spark=spark,
        tensorboard=has_tensorboard(),
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
