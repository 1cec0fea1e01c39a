"""`Cluster`: the nodes of a run while it goes on."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack, overload

from hopyard.backends.base import Backend
from hopyard.errors import AlreadyStarted, BadArguments, HopyardError, NotFed, NotStarted, StillRunning
from hopyard.interruption import explain, keeping_notes
from hopyard.protocol.node_status import NodeStatus, Phase
from hopyard.protocol.payload import dump
from hopyard.run.announcement import Announcement
from hopyard.run.backend_choice import application_id, resolve
from hopyard.run.call import bind
from hopyard.run.controller import RunController, RunPlan
from hopyard.run.encryption import uses_tls
from hopyard.run.option_names import checks_feed_options
from hopyard.run.options import RunOptions, TrainSpec, check_names, run_options
from hopyard.run.recorded_parameters import recorded_parameters
from hopyard.run.result import RunResult
from hopyard.run.run_thread import STOP_SECONDS, RunThread
from hopyard.run.signature import ShowsOptions
from hopyard.spark.failure import before_spark
from hopyard.store import Project
from hopyard.tensorboard.chief import ChiefTensorBoard
from hopyard.tensorboard.live import LiveTensorBoard
from hopyard.tracking import RunId, RunState, RunWriter, run_paths
from hopyard.view.feed_meter import FeedMeter
from hopyard.view.view import View
from hopyard.worker.periodic import Periodic, PeriodicThread

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType
    from pyspark.streaming import DStream

    from hopyard.feed.account import EpochAccount
    from hopyard.feed.driver.feeding import FeedController, FeedOrder
    from hopyard.feed.driver.streams.feed import StreamFeed

FEED_SECONDS = 600.0
READY_SECONDS = 0.05
EARLY = (Phase.AWAITED, Phase.ARRIVED)


@ShowsOptions(RunOptions, run_options)
class Cluster:
    """The nodes of a run, from their start to their end.

    Use it as a context: leaving it waits for the nodes, or ends them if an exception is on its way. It raises what
    ended the run unless `wait` has done so, or the run was stopped.

        with hopyard.Cluster(train, nodes=4, ps=1) as cluster:
            print(cluster.nodes())

    Args:
        fn: The training function; a parameter named ``ctx`` receives the `NodeContext`.
        args: Its arguments: a mapping (by name) or a tuple or list (by position).
        nodes: How many processes run it, parameter servers and evaluator included.
        spec: How to run the nodes, instead of ``nodes`` and the options that say so.
        trial: The trial of a study that this is, which is kept in the study's folder; None for a run of its own.
        options: See `RunOptions`.

    Raises:
        NotPicklable: The function cannot travel; the error names the variable at fault.
        BadArguments: The arguments do not fit the function.
        InvalidPlan: The numbers of nodes, or seconds, make no sense.
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        args: object = None,
        nodes: int = 1,
        *,
        spec: TrainSpec | None = None,
        trial: RunId | None = None,
        **options: Unpack[RunOptions],
    ) -> None:
        check_names(options, fn, call="Cluster")
        call = bind(fn, args, call="Cluster")
        self._spec = spec = TrainSpec.of(nodes, options) if spec is None else spec
        if spec.feed:
            from hopyard.feed.signed_rows import RowSigner  # a run that is not fed needs none of it

            call = replace(call, signer=RowSigner.new())
        self._signer = call.signer
        self._payload = dump(call, user=call.call)
        progress, self._meter = options.get("progress"), FeedMeter() if spec.feed else None
        name, stream_logs = options.get("name") or "", spec.stream_logs
        self._view = View(spec.plan, progress=progress, stream_logs=stream_logs, name=name, meter=self._meter)
        self._options = run_options(**options)
        self._trial = trial
        if self._spec.feed and not call.wants_context:
            needed = "a function that is fed needs a parameter named ctx, for ctx.feed()"
            raise BadArguments(call.call.name, needed)
        self._name = options.get("name") or call.call.name
        self._parameters = recorded_parameters(args)
        self._run: RunWriter | None = None
        self._thread: RunThread | None = None
        self._is_told = self._tls = False
        self._feed: FeedController | None = None
        self._feed_secret = secrets.token_urlsafe() if self._spec.feed else ""
        self._start_error: BaseException | None = None

    def start(self) -> Self:
        """Begins the run and returns while its nodes are starting.

        Raises:
            NoActiveSpark: Spark is to be used and there is no session.
            NotEnoughSlots: This Spark has no room for so many nodes.
            MissingDependency: ``tensorboard`` or ``tls`` was asked for, and what it needs is not installed.
            AlreadyStarted: A cluster is one run; make another one for another run.
        """
        if self._run is not None:
            raise AlreadyStarted(self._name)
        options = self._options
        where = resolve(options.get("backend"), options.get("spark"))
        self._tls = uses_tls(given=self._spec.tls, by_default=lambda: where.encrypts)
        project = options.get("project") or Project.open()
        self._run = run = RunWriter.begin(
            project,
            app_id=application_id(where),
            kind=options.get("kind", "launcher"),
            name=self._name,
            nodes=self._spec.plan.size,
            backend=where.name,
            description=options.get("description", ""),
            roles=[node.role.value for node in self._spec.plan.nodes],
            details={"tls": self._tls, **({"parameters": self._parameters} if self._parameters else {})},
            trial=self._trial,
        )
        self._project = project
        self._folder = run_paths(project, run.id).folder
        try:
            self._begin(where, run)
        except BaseException as error:
            self._start_error = error  # for whoever waits all the same
            raise
        return self

    @property
    def run_id(self) -> str:
        """The run, as `hopyard runs` lists it."""
        return str(self._started.id)

    @property
    def logdir(self) -> str:
        """The run's folder in the project."""
        return self._project.url(self._folder) if self._started else ""

    @property
    def tensorboard_url(self) -> str | None:
        """Where the run's TensorBoard answers; None before it does, or if none was asked for."""
        url = self._started.record.details.get("tensorboard")
        return str(url) if url else None

    @property
    def attempt(self) -> int:
        """How often the nodes were started again, with ``max_restarts``."""
        return 0 if self._thread is None else self._thread.controller.attempt

    @property
    def feed(self) -> FeedController:
        """What feeds the nodes, for `train`, `train_stream` and `inference`; `NotFed` without ``feed=True``."""
        return self._fed("feed")

    def has_ended(self, within_seconds: float = 0.0) -> bool:
        """Tells whether the run has ended, well or not; `wait` then returns or raises at once."""
        if self._thread is None:
            return self._start_error is not None
        return self._thread.has_ended(within_seconds)

    def nodes(self) -> tuple[NodeStatus, ...]:
        """Returns how the nodes are doing right now, in rank order."""
        thread = self._thread if self._started else None  # or it is an error
        return () if thread is None else thread.controller.status()

    def ready(self) -> tuple[NodeStatus, ...]:
        """Returns how the nodes are doing once all have arrived and know of each other; Ctrl-C ends the run.

        Raises:
            NodesMissing: Not all nodes arrived within ``start_timeout``.
            HopyardError: Whatever else ended the run meanwhile, as in `wait`.
        """
        try:
            while any(node.phase in EARLY for node in self.nodes()) and not self.has_ended(READY_SECONDS):
                continue
        except BaseException as error:
            self._end_with(error)
            raise
        if self.has_ended():
            self.wait()
        return self.nodes()

    def wait(self, timeout: float | None = None) -> RunResult:
        """Returns the result once every node has ended and is on record; Ctrl-C ends the run.

        Streams are stopped, and nodes that are fed are told that nothing more will come.

        Raises:
            NodeFailed: A node failed; the error has its traceback and last lines of output.
            NodesMissing: Not all nodes arrived within ``start_timeout``.
            NoProgress: All nodes were silent for longer than the run's ``timeout``.
            RunStopped: The run was stopped.
            StillRunning: The nodes had not ended after ``timeout`` seconds; they go on.
        """
        run = self._started
        with keeping_notes(), self._view.showing(self):
            try:
                if self._thread is not None:
                    self._thread.join(timeout, end_feed=self._end_feed)
            except StillRunning:
                raise
            except BaseException as error:
                self._end_with(error)
                raise
        was_told, self._is_told = self._is_told, True
        self._settle_feed()
        if (failure := self._failure()) is not None:
            raise failure
        assert self._thread is not None
        if self._feed is not None and not was_told:
            self._feed.warn()
        run_id, values = str(run.id), self._thread.values
        return RunResult(run_id=run_id, state=RunState.FINISHED, values=values, logdir=self.logdir)

    @overload
    def train(
        self,
        data: DataFrame | RDD[Any],
        epochs: int = 1,
        *,
        validation: object = ...,
        shuffle_seed: int | None = ...,
        feed_timeout: float = ...,
    ) -> tuple[EpochAccount, ...]: ...

    @overload
    def train(
        self,
        data: DataFrame,
        *,
        checkpoint: str,
        trigger: Mapping[str, Any] | None = ...,
        feed_timeout: float = ...,
    ) -> StreamFeed: ...

    @overload
    def train(self, data: DStream[Any], *, feed_timeout: float = ...) -> StreamFeed: ...

    @checks_feed_options
    def train(
        self,
        data: object,
        epochs: int = 1,
        *,
        validation: object = None,
        shuffle_seed: int | None = None,
        feed_timeout: float = FEED_SECONDS,
        checkpoint: str | None = None,
        trigger: Mapping[str, Any] | None = None,
    ) -> tuple[EpochAccount, ...] | StreamFeed:
        """Feeds data to the nodes that train, and returns once they have taken all of it; Ctrl-C ends the run.

        The nodes read it from ``ctx.feed()``. It may be called several times; the feed ends with `shutdown` or `wait`.

        Args:
            data: A DataFrame, or an RDD of any objects; a stream is handed to `train_stream`.
            epochs: How often all rows are fed. Later epochs are read again from the disks of the nodes' hosts, if
                the rows fit there.
            validation: What to validate with, read from ``ctx.feed("validation")``, where every node has all of it: another
                DataFrame or RDD; the part of the rows to take for it, such as 0.1; or the name of a column of booleans.
                Nulls in it count as False, and neither side gets the column.
            shuffle_seed: Decides on another order of the rows in each epoch; by default they come as they are.
            feed_timeout: Seconds in which no node consumes a row although rows wait, after which the run is ended.
            checkpoint: As for `train_stream`.
            trigger: As for `train_stream`.

        Returns:
            What became of the rows: an `EpochAccount` for each epoch. For a stream, what `train_stream` returns.

        Raises:
            NotFed: The run was not started with ``feed=True``.
            FeedStalled, FeedJobFailed, FeedMiscounted, BadArguments: See `hopyard.errors`.
            NodeFailed: A node failed, and the other errors of `wait`.
        """
        from hopyard.feed.driver.feeding import FeedOrder, is_stream  # a run that is not fed needs none of it
        from hopyard.feed.driver.streams.queries import StreamOrder

        stream = StreamOrder(checkpoint=checkpoint, trigger=trigger)
        order = FeedOrder(
            epochs=epochs, seed=shuffle_seed, timeout=feed_timeout, stream=stream, validation=validation
        )
        feed = self._fed("train()")
        if is_stream(data):
            return self._train_stream(data, order)
        with keeping_notes(), self._view.feeding(self, epochs):
            return feed.train(data, order)

    def train_stream(
        self,
        stream: DataFrame | DStream[Any],
        *,
        checkpoint: str | None = None,
        trigger: Mapping[str, Any] | None = None,
        feed_timeout: float = FEED_SECONDS,
    ) -> StreamFeed:
        """Begins to feed a stream to the nodes that train, and returns while it goes on.

        It goes on until it is stopped, `shutdown` or `wait` stop it, or all nodes have had enough. Its rows are
        delivered at least once, see `StreamFeed`.

        Args:
            stream: A streaming DataFrame; or a DStream, whose context is the caller's to start and to stop.
            checkpoint: For a streaming DataFrame: the folder where Spark keeps how far it was read. A run with the same
                one goes on from there.
            trigger: For a streaming DataFrame: when Spark takes the next rows, such as ``{"processingTime": "5 seconds"}``
                or ``{"availableNow": True}``; by default as soon as there are some.
            feed_timeout: Seconds in which no node consumes a row although rows wait, after which the run is ended.

        Raises:
            NotFed: The run was not started with ``feed=True``.
            BadArguments: It is no stream, or has no checkpoint and needs one, or Spark cannot read it so.
        """
        from hopyard.feed.driver.feeding import FeedOrder  # a run that is not fed needs none of it
        from hopyard.feed.driver.streams.queries import StreamOrder

        order = FeedOrder(timeout=feed_timeout, stream=StreamOrder(checkpoint=checkpoint, trigger=trigger))
        return self._train_stream(stream, order)

    @checks_feed_options
    def inference(
        self,
        data: object,
        schema: str | StructType | None = None,
        *,
        keep: str | Sequence[str] = (),
        feed_timeout: float = FEED_SECONDS,
    ) -> Any:
        """Returns what the nodes find for each row, computed when it is used, in order within each partition.

        The nodes read the rows from ``ctx.feed()`` and return results with its ``batch_results``.

        Args:
            data: A DataFrame, or an RDD of any objects.
            schema: The columns of the results, for a DataFrame: such as ``"prediction float"``.
            keep: Columns of a DataFrame to stand before those of the results, each value in the row that it belongs to,
                such as ``["id"]``; ``df.columns`` for all. The function sees all columns anyway.
            feed_timeout: Seconds without any result for a partition, after which its task fails.

        Returns:
            A DataFrame or an RDD, as the data is; use it before the cluster is shut down.

        Raises:
            NotFed, BadArguments: The run cannot be fed, or the data; see `hopyard.errors`.
        """
        feed = self._fed("inference()")
        with self._view.showing(self):
            results = feed.inference(data, schema, keep=keep, feed_timeout=feed_timeout)
            self._view.accompany(self)
        return results

    def shutdown(self, timeout: float | None = None, *, grace_seconds: float | None = None) -> RunResult:
        """Ends the cluster in peace: waits for those that train, ends the others; as `wait`.

        Args:
            timeout: As in `wait`.
            grace_seconds: How long the evaluator then has to end by itself, if not what was said at the start.
        """
        if grace_seconds is not None and self._thread is not None:
            self._thread.controller.grant(grace_seconds)
        return self.wait(timeout)

    def stop(self, reason: str = "the driver said so", *, timeout: float = STOP_SECONDS) -> None:
        """Ends the run now, as KILLED, and returns when its nodes are gone; nothing happens if it has ended.

        Args:
            reason: What goes on record.
            timeout: How many seconds that may take, until nodes and store have had their time.

        Raises:
            StopTimeout: It took longer.
        """
        if self._thread is not None:
            self._thread.stop(reason, timeout)
            self._is_told = True
            self._settle_feed()

    def __enter__(self) -> Self:
        return self if self._run is not None else self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None and not self._is_told:
            self.shutdown()
        elif error is not None:
            cause = None if self._feed is None else self._feed.cause(error)
            with keeping_notes():
                self._end_with(error if cause is None else cause)
            if cause is not None:  # of which Spark tells in a screenful of Java
                raise cause.with_traceback(before_spark(error.__traceback__)) from None

    def _begin(self, where: Backend, run: RunWriter) -> None:
        with ExitStack() as resources:
            resources.enter_context(run)
            resources.enter_context(PeriodicThread(Periodic(run.heartbeat, run.record.heartbeat_seconds)))
            companions = self._spec.companions
            where_to, host = Announcement(run), self._spec.tensorboard_host
            if self._spec.tensorboard == "chief":
                companions = (*companions, ChiefTensorBoard(host=host))
            elif self._spec.tensorboard:
                live = LiveTensorBoard(self.logdir, where_to, project=self._project, host=host)
                resources.enter_context(live)
            plan = RunPlan(
                spec=self._spec,
                backend=where,
                project=self._project,
                payload=self._payload,
                feed_secret=self._feed_secret,
                companions=companions,
                tls=self._tls,
            )
            controller = RunController(
                plan,
                run,
                announce=where_to,
                on_lines=self._view.lines if self._spec.stream_logs else None,
                before_end=lambda: self._feed.close_accounts() if self._feed else None,
            )
            controller.begin()
            thread = RunThread(controller, run, self._project)
            if self._signer is not None:
                assert self._meter is not None
                self._feed = thread.new_feed(
                    self._spec.plan,
                    self._feed_secret,
                    self._signer,
                    meter=self._meter,
                    end_with=self._end_with,
                )
            self._thread = thread
            thread.start(resources.pop_all())

    @property
    def _started(self) -> RunWriter:
        if self._run is not None:
            return self._run
        raise NotStarted(self._name)

    def _end_with(self, error: BaseException) -> None:
        """Ends the run now because of an error that goes on to the driver program: as FAILED; as KILLED after Ctrl-C."""
        if isinstance(error, Exception):
            if self._thread is not None:
                self._thread.fail(error)
            self._is_told = True
            self._settle_feed()
        elif isinstance(error, KeyboardInterrupt):
            explain(error, f"Interrupted: the run {self.run_id} was stopped; its files are in {self.logdir}.")
            self.stop("it was interrupted")
        else:
            self.stop(f"the driver ended: {error!r}")

    def _failure(self) -> BaseException | None:
        """Returns what ended a run that is over; without a traceback if it tells its story, and not that of our threads."""
        failure = self._start_error if self._thread is None else self._thread.failure()
        return failure.with_traceback(None) if isinstance(failure, HopyardError) else failure

    def _train_stream(self, stream: object, order: FeedOrder) -> StreamFeed:
        feed = self._fed("train_stream()")
        with self._view.feeding(self, 1):
            handle = feed.train_stream(stream, order)
            self._view.accompany(self, lambda: handle.is_active)
        return handle

    def _fed(self, wanted: str) -> FeedController:
        feed = self._feed if self._started else None  # or it is an error
        if feed is None:
            raise NotFed(wanted, "the run was started without feed=True; use Cluster(fn, feed=True)")
        return feed

    def _end_feed(self, timeout: float | None) -> None:
        if self._feed is not None:
            self._feed.end(timeout)

    def _settle_feed(self) -> None:
        if self._feed is not None:
            self._feed.settle()
