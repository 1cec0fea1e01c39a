"""Runs a function on many nodes that know nothing of each other; ``from tensorflowonspark import TFParallel``."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hopyard.backends.spark_workers import gpu_share
from hopyard.control.gang import Timeouts
from hopyard.protocol.plan import Plan
from hopyard.run.cluster import Cluster
from hopyard.run.options import TrainSpec
from hopyard.spark.preflight.room import slots_at_once
from tensorflowonspark.map_call import LoneCall, bound
from tensorflowonspark.notice import tell_where
from tensorflowonspark.order import devices
from tensorflowonspark.surroundings import ProcessState

if TYPE_CHECKING:
    from pyspark import SparkContext

    from hopyard.worker.gpus.request import DeviceRequest

LOG = logging.getLogger(__name__)
KIND = "tfparallel"


def run(
    sc: SparkContext,
    map_fn: Callable[..., Any],
    tf_args: object,
    num_executors: int,
    use_barrier: bool = True,
) -> None:
    """Calls ``map_fn(tf_args, ctx)`` on every node and returns when all have ended.

    In ``ctx`` a node finds its number (``executor_id``, ``worker_num``) and how many there are (``num_workers``).

    Args:
        sc: The Spark context.
        map_fn: The function.
        tf_args: Its arguments, of any kind.
        num_executors: How many nodes there are.
        use_barrier: Whether all nodes have to run at the same time. Without it, a Spark with too few slots runs
            them one lot after the other.

    Raises:
        NotEnoughSlots: This Spark has no room for all nodes, and they have to run at the same time.
        NodeFailed: A node failed, which ended the others; the error has its traceback.
    """
    call = bound(map_fn, tf_args)
    around = ProcessState.of(sc)
    wanted = devices(tf_args)
    at_once = num_executors if use_barrier else _room(sc, num_executors, wanted)
    for first in range(0, num_executors, max(1, at_once)):
        size = min(at_once, num_executors - first)
        spec = TrainSpec(
            plan=Plan.of(size, chief=False),
            timeouts=Timeouts(),
            trainer_devices=wanted,
            driver_address=around.server_host,
            driver_ports=around.server_ports,
        )
        lone = LoneCall(call=call, default_fs=around.default_fs, first=first, num_workers=num_executors)
        with Cluster(lone, spec=spec, kind=KIND, spark=sc) as cluster:
            tell_where(cluster)
            cluster.wait()


def _room(sc: SparkContext, nodes: int, wanted: DeviceRequest) -> int:
    """Returns how many of the nodes can run at the same time."""
    at_once = min(nodes, slots_at_once(sc, gpu_share(wanted), wanted=nodes))
    if at_once < nodes:
        LOG.info("%d nodes run one lot after the other: this Spark has %d slots", nodes, at_once)
    return at_once
