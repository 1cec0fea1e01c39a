"""Starts and ends clusters on Spark; ``from tensorflowonspark import TFCluster``."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self

from hopyard.control.driver_wire import driver_address
from hopyard.errors import BadArguments, NoProgress, NotFed, NotOffered, NotStarted, StillRunning
from hopyard.protocol.node_status import Phase
from hopyard.run.cluster import Cluster
from tensorflowonspark.cluster_info import cluster_info
from tensorflowonspark.feed_data import as_rdd, drain, epochs, is_stream
from tensorflowonspark.map_call import MapCall, bound
from tensorflowonspark.node_manager import unknown
from tensorflowonspark.notice import tell, tell_where
from tensorflowonspark.old_names import old_names
from tensorflowonspark.order import QUEUES, RESERVATION_SECONDS, InputMode, Later, Order
from tensorflowonspark.reservation import Server
from tensorflowonspark.roles import Roles
from tensorflowonspark.surroundings import ProcessState

if TYPE_CHECKING:
    from pyspark import RDD, SparkContext

__all__ = ["InputMode", "TFCluster", "reserve", "run"]

KIND = "tensorflowonspark"
FEED_SECONDS = 600.0
THREE_DAYS = 259200
TENSORBOARD_SECONDS = 60.0
POLL_SECONDS = 0.1


class TFCluster:
    """The nodes of a training on Spark; `run` returns one.

    Attributes:
        sc: The Spark context.
        input_mode: Who reads the data, an `InputMode`.
        queues: Names of the feed's queues.
        server: Listens for the order to end a stream, once one is fed; None before.
    """

    def __init__(self, sc: SparkContext, order: Order, around: ProcessState) -> None:
        self.sc = sc
        self.input_mode = order.input_mode
        self.queues = list(order.queues)
        self.server: Server | None = None
        self._order = order
        self._around = around
        self._run: Cluster | None = None
        self._tensorboard_url: str | None = None
        self._source: str | None = None

    def start(self, map_fun: Callable[..., Any], tf_args: object) -> Self:
        """Runs ``map_fun(tf_args, ctx)`` on all nodes; returns when they know of each other.

        Raises:
            InvalidPlan: The numbers do not fit together.
            NotEnoughSlots: This Spark has no room for so many nodes.
            NodesMissing: Not all nodes arrived within ``reservation_timeout``.
            NodeFailed: A node failed while the others were starting.
        """
        order = self._order
        call = MapCall(
            call=bound(map_fun, tf_args),
            roles=order.roles,
            default_fs=self._around.default_fs,
            working_dir=self._around.working_dir,
            release_port=order.release_port,
            queues=order.queues,
            is_fed=order.is_fed,
        )
        with old_names():
            self._run = Cluster(
                call,
                spec=order.spec(tf_args, self._around),
                name=order.name,
                description=order.description,
                kind=KIND,
                spark=self.sc,
            ).start()
            tell_where(self._run)
            self._run.ready()
        return self

    @property
    def cluster_info(self) -> list[dict[str, Any]]:
        """The nodes as dictionaries, by executor_id; ``addr`` and ``authkey`` are None, as nobody needs them."""
        if self._run is None:
            return []
        listed = (cluster_info(node, self._order.roles) for node in self._run.nodes())
        return sorted(listed, key=lambda info: int(info["executor_id"]))

    @property
    def cluster_meta(self) -> dict[str, Any]:
        """What all nodes were told."""
        return {
            "id": None if self._run is None else self._run.run_id,
            "cluster_template": self._order.roles.template(),
            "num_executors": self._order.roles.num_executors,
            "default_fs": self._around.default_fs,
            "working_dir": self._around.working_dir,
            "server_addr": None if self.server is None else self.server.address,
            "release_port": self._order.release_port,
        }

    meta = cluster_meta

    @property
    def nodeRDD(self) -> RDD[int]:
        """The numbers of the nodes, one in each partition; nothing here runs on it."""
        size = self._order.roles.num_executors
        return self.sc.parallelize(range(size), size)

    @property
    def logdir(self) -> str:
        """The run's folder in the project."""
        return self._started.logdir

    def train(
        self, dataRDD: object, num_epochs: int = 0, feed_timeout: float = FEED_SECONDS, qname: str = "input"
    ) -> None:
        """Feeds the nodes that train, and returns when they have taken all rows, or want no more.

        Args:
            dataRDD: An RDD; a DataFrame, whose rows come as those of its ``rdd``; or a DStream.
            num_epochs: How often all rows are fed; 0 for ten times.
            feed_timeout: Seconds in which no node takes a row although rows wait, after which the cluster is ended.
            qname: Name of the feed's queue.

        Raises:
            NotFed: The cluster was not started with ``InputMode.SPARK``.
            BadArguments: There is no such queue, `num_epochs` is negative, or the data cannot be fed.
            NotOffered: The cluster was fed by another queue.
            FeedStalled: No node took any row for `feed_timeout` seconds.
            NodeFailed: A node failed; the error has its traceback and last lines of output.
        """
        self._check_feed("train", qname)
        data: Any = dataRDD
        if is_stream(data):
            self._started.train_stream(data, feed_timeout=feed_timeout)
            self._listen()
        else:
            rows: Any = as_rdd(data)
            self._started.train(rows, epochs(num_epochs), feed_timeout=feed_timeout)

    def inference(
        self, dataRDD: object, feed_timeout: float = FEED_SECONDS, qname: str = "input"
    ) -> RDD[Any]:
        """Returns an RDD with the result of each row, which the nodes find when the RDD is used.

        Args:
            dataRDD: An RDD, or a DataFrame, whose rows come as those of its ``rdd``.
            feed_timeout: Seconds without any result for a partition, after which its task fails.
            qname: Name of the feed's queue.

        Raises:
            NotFed: The cluster was not started with ``InputMode.SPARK``.
            BadArguments: There is no such queue, or the data cannot be fed.
            NotOffered: The cluster was fed by another queue.
        """
        self._check_feed("inference", qname)
        results: RDD[Any] = self._started.inference(as_rdd(dataRDD), feed_timeout=feed_timeout)
        return results

    def shutdown(self, ssc: object = None, grace_secs: float = 0, timeout: float = THREE_DAYS) -> None:
        """Ends the feed, waits for all nodes that train, ends the others; returns when the outcome of each is known.

        It may be called from any thread, and again. The Spark context goes on.

        Args:
            ssc: The streaming context whose rows were fed; it is waited for, and stopped once no node takes rows or
                a `reservation.Client` asks for it.
            grace_secs: Seconds that the evaluator has to end by itself once the others are done. What a node does
                after its training loop is waited for anyway.
            timeout: Seconds without a word or a metric from any node that trains, after which the nodes are
                ended; -1 or 0 for no limit.

        Raises:
            NodeFailed: A node failed; the error has its traceback and last lines of output.
            NoProgress: The nodes were silent for longer than `timeout`.
        """
        try:
            if ssc is not None:
                drain(ssc, self._is_wanted)
            self._end(grace_secs, timeout)
        finally:
            if self.server is not None:
                self.server.stop()

    def tensorboard_url(self) -> str | None:
        """Returns where TensorBoard answers, once it does; None if there is none."""
        deadline = time.monotonic() + TENSORBOARD_SECONDS
        while self._order.tensorboard and self._tensorboard_url is None:
            nodes = self._started.nodes()
            self._tensorboard_url = self._started.tensorboard_url
            if nodes[0].phase is not Phase.RUNNING or time.monotonic() > deadline:
                break
            threading.Event().wait(POLL_SECONDS)
        return self._tensorboard_url

    def _check_feed(self, call: str, qname: str) -> None:
        if not self._order.is_fed:
            raise NotFed(f"TFCluster.{call}()", "it needs a cluster with input_mode=InputMode.SPARK")
        if qname not in self.queues:
            raise BadArguments(call, unknown(qname, self.queues))
        self._source = self._source or qname
        if qname != self._source:
            reason = f"the cluster is fed by {self._source!r}, and has one feed; start another cluster for it"
            raise NotOffered(f"{call}(qname={qname!r})", reason)

    def _end(self, grace_secs: float, timeout: float) -> None:
        left = timeout if timeout > 0 else None
        while True:
            try:
                self._started.shutdown(left, grace_seconds=max(0.0, grace_secs))
            except StillRunning:
                left = timeout - self._check_progress(timeout)
            else:
                return

    def _listen(self) -> None:
        """Lets other processes end the stream, and tells where."""
        if self.server is None:
            self.server = Server(lambda: self.cluster_info)
        own = self._around.server_host or driver_address(
            self.sc.getConf().get("spark.driver.host", "localhost")
        )
        host, port = self.server.start(own, self._around.server_ports)
        tell("listening for reservations at %s %d", host, port)

    def _is_wanted(self) -> bool:
        """Whether a node is left that could be fed, and nobody has asked for the end."""
        if self.server is not None and self.server.done:
            return False
        trainers = self._order.roles.plan().leaders
        return any(node.rank in trainers and node.phase is Phase.RUNNING for node in self._started.nodes())

    @property
    def _started(self) -> Cluster:
        if self._run is None:
            raise NotStarted("map_fun")
        return self._run

    def _check_progress(self, seconds: float) -> float:
        """Returns for how long nothing was heard of any node that trains; ends the run if that is too long."""
        run = self._started
        trainers = self._order.roles.plan().leaders
        idle = [node for node in run.nodes() if node.rank in trainers and node.phase is Phase.RUNNING]
        least = min((node.idle_seconds for node in idle), default=0.0)
        if least < seconds:
            return least
        last = (f"node {node.rank} ({node.role}) {node.idle_seconds:.0f} s ago" for node in idle)
        error = NoProgress(seconds, tuple(last))
        run.stop(str(error))
        raise error


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
    queues: Sequence[str] = QUEUES,
    eval_node: bool = False,
    release_port: bool = True,
) -> TFCluster:
    """Starts a cluster and returns when its nodes know of each other, while ``map_fun`` is running on them.

    Calls of every release since 1.1 are understood, whose arguments after `log_dir` were in other places.

    Args:
        sc: The Spark context.
        map_fun: The training function; it is called with `tf_args` and a `TFNodeContext`.
        tf_args: Its arguments, of any kind; a list also becomes ``sys.argv``.
        num_executors: How many nodes there are in all.
        num_ps: How many of them are parameter servers.
        tensorboard: Whether a TensorBoard runs beside the master, or beside the first worker.
        input_mode: Who reads the data: the function, or Spark, which feeds it (``InputMode.SPARK``).
        log_dir: What the TensorBoard shows; by default the log folder of its node (``TENSORBOARD_LOGDIR``).
        driver_ps_nodes: Whether parameter servers and evaluator run beside the driver.
        master_node: What the first worker is called, ``chief`` or ``master``; with it, TF_CONFIG is set.
        reservation_timeout: Seconds in which all nodes have to arrive.
        queues: Names of the feed's queues.
        eval_node: Whether one of the nodes evaluates.
        release_port: With False, ``ctx.tmp_socket`` holds the node's port until ``ctx.release_port()``.

    Raises:
        BadArguments: `input_mode` is none, or arguments contradict each other.
        InvalidPlan: The numbers do not fit together.
        NotPicklable: The function cannot travel; the error names the variable at fault.
        NotEnoughSlots: This Spark has no room for so many nodes.
        NodesMissing: Not all nodes arrived in time.
        NodeFailed: A node failed while the others were starting; later failures are raised by `shutdown`.
    """
    later = Later.sorted_out(driver_ps_nodes, master_node, reservation_timeout, queues)
    order = Order(
        roles=Roles(
            num_executors=num_executors,
            num_ps=num_ps,
            master_node=later.master_node or None,
            eval_node=bool(eval_node),
        ),
        tensorboard=bool(tensorboard),
        input_mode=input_mode,
        log_dir=log_dir,
        driver_ps_nodes=later.driver_ps_nodes,
        reservation_timeout=later.reservation_timeout,
        queues=later.queues,
        release_port=release_port,
    )
    return TFCluster(sc, order, ProcessState.of(sc)).start(map_fun, tf_args)


def reserve(
    sc: SparkContext,
    num_executors: int,
    num_ps: int,
    tensorboard: bool = False,
    input_mode: int = InputMode.TENSORFLOW,
    log_dir: str | None = None,
    queues: Sequence[str] = QUEUES,
) -> TFCluster:
    """Returns a cluster whose `TFCluster.start` runs a function on it, as releases before 1.1 did it.

    The arguments are those of `run`. Nodes are taken when it is started, not before.
    """
    order = Order(
        roles=Roles(num_executors=num_executors, num_ps=num_ps),
        tensorboard=bool(tensorboard),
        input_mode=input_mode,
        log_dir=log_dir,
        queues=tuple(queues),
    )
    return TFCluster(sc, order, ProcessState.of(sc))
