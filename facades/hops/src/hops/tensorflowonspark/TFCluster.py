"""Starts clusters with the arguments of the Hops library; ``from hops.tensorflowonspark import TFCluster``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from hops.label import NO_NAME, Label, has_tensorboard
from hops.resources import versioned
from tensorflowonspark.order import QUEUES, RESERVATION_SECONDS, InputMode, Order
from tensorflowonspark.roles import Roles
from tensorflowonspark.surroundings import ProcessState
from tensorflowonspark.TFCluster import TFCluster

if TYPE_CHECKING:
    from pyspark import SparkContext

__all__ = ["InputMode", "TFCluster", "run"]


def run(
    sc: SparkContext,
    map_fun: Callable[..., Any],
    tf_args: object,
    num_executors: int,
    num_ps: int,
    tensorboard: bool = False,
    input_mode: int = InputMode.TENSORFLOW,
    log_dir: str | None = None,
    driver_ps_nodes: bool = False,
    master_node: str | None = None,
    reservation_timeout: float = RESERVATION_SECONDS,
    name: str = NO_NAME,
    local_logdir: bool = False,
    versioned_resources: Sequence[str] | None = None,
    description: str | None = None,
    queues: Sequence[str] = QUEUES,
) -> TFCluster:
    """Starts a cluster as `tensorflowonspark.TFCluster.run` does, with the arguments of the Hops library.

    Args:
        sc: The Spark context.
        map_fun: The training function; it is called with `tf_args` and a context.
        tf_args: Its arguments.
        num_executors: How many nodes there are in all, as ``hops.util.num_executors(spark)`` tells.
        num_ps: How many of them are parameter servers.
        tensorboard: Without effect: there always is a TensorBoard, where it is installed.
        input_mode: Who reads the data: the function, or Spark, which feeds it (``InputMode.SPARK``).
        log_dir: What the TensorBoard shows; by default what is written to ``hops.tensorboard.logdir()``.
        driver_ps_nodes: Whether parameter servers run beside the driver.
        master_node: What the first worker is called, ``chief`` or ``master``; with it, TF_CONFIG is set.
        reservation_timeout: Seconds in which all nodes have to arrive.
        name: A name for the run.
        local_logdir: Without effect.
        versioned_resources: Files of the project that are copied into the run's folder.
        description: Free text that is kept with the run.
        queues: Names of the feed's queues.
    """
    label = Label.of(name, versioned_resources, description)
    order = Order(
        roles=Roles(num_executors=num_executors, num_ps=num_ps, master_node=master_node or None),
        tensorboard=has_tensorboard(),
        input_mode=input_mode,
        log_dir=log_dir,
        driver_ps_nodes=driver_ps_nodes,
        reservation_timeout=reservation_timeout,
        queues=tuple(queues),
        name=label.name,
        description=label.description,
    )
    with versioned(label.resources) as resources:
        cluster = TFCluster(sc, order, ProcessState.of(sc)).start(map_fun, tf_args)
        resources.copy_to(cluster.logdir)
    return cluster
