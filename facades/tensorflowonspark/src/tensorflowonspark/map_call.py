"""What runs on a node: ``map_fun(args, ctx)``."""

from __future__ import annotations

import json
import logging
import os
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hopyard.errors import BadArguments
from hopyard.protocol.node_info import NodeInfo
from hopyard.protocol.payload import Call
from hopyard.protocol.plan import Role
from hopyard.run.call import NodeCall
from hopyard.run.context import NodeContext
from tensorflowonspark.node_manager import NodeManager
from tensorflowonspark.old_names import old_names
from tensorflowonspark.order import QUEUES
from tensorflowonspark.roles import Roles
from tensorflowonspark.TFSparkNode import TFNodeContext

TF_CONFIG = "TF_CONFIG"
_LEADERS = {"chief", "master"}


@dataclass(frozen=True, slots=True, kw_only=True)
class MapCall(NodeCall):
    """A call of ``map_fun`` on a node of a cluster.

    Attributes:
        roles: Who is who.
        default_fs: URL of the default file system.
        working_dir: The driver's working folder.
        release_port: Whether the function gets no socket that holds its port.
        queues: Names of the feed's queues.
        is_fed: Whether Spark feeds the nodes.
    """

    wants_context: bool = True
    roles: Roles
    default_fs: str
    working_dir: str
    release_port: bool = True
    queues: tuple[str, ...] = QUEUES
    is_fed: bool = False

    def __call__(self) -> None:
        """Runs the node; its errors have the names that the program knows."""
        with old_names():
            NodeCall.__call__(self)  # a dataclass with slots has no super()

    def _call(self, context: NodeContext | None) -> None:
        """Calls the function; what it returns is nobody's, so it need not be picklable."""
        assert context is not None
        show_log()
        ctx = self._context(context.info, NodeManager(self.queues, context.feed if self.is_fed else None))
        config = tf_config(ctx)
        if config is not None:
            os.environ[TF_CONFIG] = config
        (args,) = self.call.positional
        if isinstance(args, list):
            sys.argv = args
        self.call.function(args, ctx)

    def _context(self, node: NodeInfo, manager: NodeManager) -> TFNodeContext:
        return TFNodeContext(
            executor_id=self.roles.executor_id(node.role, node.task_index),
            job_name=self.roles.job_name(node.role),
            task_index=node.task_index,
            cluster_spec=self.roles.cluster_spec(node.cluster),
            defaultFS=self.default_fs,
            working_dir=self.working_dir,
            mgr=manager,
            tmp_socket=None if self.release_port or node.port < 0 else socket.socket(fileno=node.port),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LoneCall(NodeCall):
    """A call of ``map_fn`` on a node that knows of no others.

    Attributes:
        default_fs: URL of the default file system.
        first: Number of the first of the nodes that run at once.
        num_workers: How many nodes there are in all.
    """

    wants_context: bool = True
    default_fs: str
    first: int
    num_workers: int

    def _call(self, context: NodeContext | None) -> None:
        """Calls the function; what it returns is nobody's."""
        assert context is not None
        show_log()
        (args,) = self.call.positional
        ctx = TFNodeContext(executor_id=self.first + context.rank, defaultFS=self.default_fs)
        ctx.num_workers = self.num_workers
        self.call.function(args, ctx)


def bound(function: Callable[..., Any], tf_args: object) -> Call:
    """Returns a function with its arguments, of which the context comes last.

    Raises:
        BadArguments: It is no function.
    """
    if not callable(function):
        raise BadArguments(repr(function), "it is not a function")
    return Call(function=function, positional=(tf_args,))


def show_log() -> None:
    """Lets ``logging.info`` reach the node's log, as functions were used to."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")


def tf_config(ctx: TFNodeContext) -> str | None:
    """Returns what TensorFlow is told of the cluster; None in a cluster that nobody leads.

    The evaluator is no part of the cluster that it evaluates: it is listed for itself only.
    """
    if not _LEADERS & ctx.cluster_spec.keys():
        return None
    evaluator = Role.EVALUATOR.value
    cluster = {
        job: addresses
        for job, addresses in ctx.cluster_spec.items()
        if job != evaluator or ctx.job_name == evaluator
    }
    task = {"type": ctx.job_name, "index": ctx.task_index}
    return json.dumps({"cluster": cluster, "task": task, "environment": "cloud"})
