"""`Cluster`: the nodes of a run while it goes on."""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self, Unpack

from hopyard.backends.base import Backend
from hopyard.errors import AlreadyStarted, BadArguments, HopyardError, NotStarted, RunStopped, StillRunning
from hopyard.feed.driver.group_status import GroupStatus
from hopyard.feed.driver.record import FeedRecord
from hopyard.protocol.node_status import NodeStatus, Phase
from hopyard.protocol.payload import dump
from hopyard.run.announcement import Announcement
from hopyard.run.application import application_id
from hopyard.run.backend_choice import resolve
from hopyard.run.call import bind
from hopyard.run.controller import RunController, RunPlan
from hopyard.run.feedable import Feedable
from hopyard.run.options import RunOptions, TrainSpec, check_names, run_options
from hopyard.run.recorded_parameters import recorded_parameters
from hopyard.run.result import RunResult
from hopyard.run.signature import ShowsOptions
from hopyard.store import Project
from hopyard.tensorboard.chief import ChiefTensorBoard
from hopyard.tensorboard.live import LiveTensorBoard
from hopyard.tracking import RunId, RunState, RunWriter, run_paths
from hopyard.view.view import View
from hopyard.worker.periodic import Periodic, PeriodicThread

LOG = logging.getLogger(__name__)
POLL_SECONDS = 0.5
READY_SECONDS = 0.05
EARLY = (Phase.AWAITED, Phase.ARRIVED)
INTERRUPTED = "it was interrupted"


@ShowsOptions(RunOptions, run_options)
class Cluster(Feedable):
    """The nodes of a run, from their start to their end.

    Use it as a context: leaving it waits for the nodes, or ends them if an exception is on its way. It raises what
    ended the run unless `wait` has done so, or the run was stopped.

        with hopyard.Cluster(train, nodes=4, ps=1) as cluster:
            print(cluster.logdir, cluster.nodes())
        result = cluster.wait()

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
        check_names(options, fn)
        call = bind(fn, args)
        self._payload = dump(call, user=call.call)
        self._spec = spec = TrainSpec.of(nodes, options) if spec is None else spec
        super().__init__(View(spec.plan, progress=options.get("progress"), stream_logs=spec.stream_logs))
        self._options = run_options(**options)
        self._trial = trial
        if self._spec.feed and not call.wants_context:
            raise BadArguments(
                call.call.name, "a function that is fed needs a parameter named ctx, for ctx.feed()"
            )
        self._name = options.get("name") or call.call.name
        self._parameters = recorded_parameters(args)
        self._run: RunWriter | None = None
        self._conductor: RunController | None = None
        self._thread = threading.Thread(target=self._conduct, name="hopyard-run", daemon=True)
        # not the thread itself: Python 3.11 takes a thread for ended if Ctrl-C comes while it is joined
        self._is_over = threading.Event()
        self._is_told = False
        self._resources = ExitStack()
        self._feed_secret = secrets.token_urlsafe() if self._spec.feed else ""
        self._values: tuple[Any, ...] = ()
        self._error: BaseException | None = None
        self._failure: BaseException | None = None

    def start(self) -> Self:
        """Begins the run and returns while its nodes are starting.

        Raises:
            NoActiveSpark: Spark is to be used and there is no session.
            NotEnoughSlots: This Spark has no room for so many nodes.
            MissingDependency: ``tensorboard`` was asked for and is not installed.
            AlreadyStarted: A cluster is one run; make another one for another run.
        """
        if self._run is not None:
            raise AlreadyStarted(self._name)
        options = self._options
        where = resolve(options.get("backend"), options.get("spark"))
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
            details={"parameters": self._parameters} if self._parameters else {},
            trial=self._trial,
        )
        self._project = project
        self._folder = run_paths(project, run.id).folder
        try:
            self._begin(where, run)
        except BaseException as error:
            self._error = error  # for whoever waits all the same
            self._is_over.set()
            raise
        self._thread.start()
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
        return self._conductor.attempt if self._conductor is not None else 0

    def has_ended(self, within_seconds: float = 0.0) -> bool:
        """Tells whether the run has ended, well or not; `wait` then returns or raises at once."""
        return self._is_over.wait(within_seconds)

    def nodes(self) -> tuple[NodeStatus, ...]:
        """Returns how the nodes are doing right now, in rank order."""
        assert self._started
        return self._conductor.status() if self._conductor is not None else ()

    def standing(self) -> GroupStatus:
        """Returns the same, and which attempt these nodes belong to."""
        assert self._started
        return self._conductor.standing() if self._conductor is not None else GroupStatus()

    def ready(self) -> tuple[NodeStatus, ...]:
        """Returns how the nodes are doing once all have arrived and know of each other; Ctrl-C ends the run.

        Raises:
            NodesMissing: Not all nodes arrived within ``start_timeout``.
            HopyardError: Whatever else ended the run meanwhile, as in `wait`.
        """
        try:
            while any(node.phase in EARLY for node in self.nodes()) and not self._is_over.wait(READY_SECONDS):
                continue
        except BaseException:
            self.stop(INTERRUPTED)
            raise
        if self._is_over.is_set():
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
        with self._view.showing(self):
            try:
                began = time.monotonic()
                attempt = self.attempt
                self.end_feeding(timeout)
                self._join(timeout, began, attempt)
            except StillRunning:
                raise
            except BaseException as error:
                self.end_with(error)
                if isinstance(error, KeyboardInterrupt):
                    error.add_note(
                        f"Interrupted: the run {run.id} was stopped; what it left is in {self.logdir}."
                    )
                raise
        was_told, self._is_told = self._is_told, True
        self.settle_feeding()
        if isinstance(self._error, HopyardError):
            raise self._error.with_traceback(
                None
            )  # it tells its story; how our thread came to raise it is noise
        if self._error is not None:
            raise self._error
        if not was_told:
            self.tell_if_alone()
        return RunResult(run_id=str(run.id), state=RunState.FINISHED, values=self._values, logdir=self.logdir)

    def shutdown(self, timeout: float | None = None, *, grace_seconds: float | None = None) -> RunResult:
        """Ends the cluster in peace: waits for those that train, ends the others; as `wait`.

        Args:
            timeout: As in `wait`.
            grace_seconds: How long the evaluator then has to end by itself, if not what was said at the start.
        """
        if grace_seconds is not None and self._conductor is not None:
            self._conductor.grant(grace_seconds)
        return self.wait(timeout)

    def stop(self, reason: str = "the driver said so") -> None:
        """Ends the run now, as KILLED, and returns when its nodes are gone; nothing happens if it has ended."""
        if self._conductor is None:
            return
        self._conductor.stop(reason)
        self._is_over.wait()
        self._is_told = True
        self.settle_feeding()

    def fail(self, error: BaseException) -> None:
        """Ends the run now, as FAILED, because of an error, which `wait` raises; nothing happens if it has ended."""
        if self._conductor is None or self._is_over.is_set():
            return
        self._failure = error
        self._conductor.stop(str(error) or repr(error))
        self._is_over.wait()

    def end_with(self, error: BaseException) -> None:
        """Ends the run now because of an error that goes on to the driver program: as FAILED; as KILLED after Ctrl-C."""
        if isinstance(error, Exception):
            self.fail(error)
            self._is_told = True
            self.settle_feeding()
        else:
            interrupted = isinstance(error, KeyboardInterrupt)
            self.stop(INTERRUPTED if interrupted else f"the driver ended: {error!r}")

    def failure(self) -> BaseException | None:
        """Returns what the run ended of; None while it goes on, and if it ended well."""
        return self._error if self._is_over.is_set() else None

    def __enter__(self) -> Self:
        return self if self._run is not None else self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None and not self._is_told:
            self.shutdown()
        elif error is not None:
            self.end_with(error)

    def _begin(self, where: Backend, run: RunWriter) -> None:
        with ExitStack() as resources:
            resources.enter_context(run)
            resources.enter_context(PeriodicThread(Periodic(run.heartbeat, run.record.heartbeat_seconds)))
            companions = self._spec.companions
            if self._spec.tensorboard == "chief":
                companions = (*companions, ChiefTensorBoard(host=self._spec.tensorboard_host))
            elif self._spec.tensorboard:
                resources.enter_context(
                    LiveTensorBoard(
                        self.logdir,
                        Announcement(run),
                        project=self._project,
                        host=self._spec.tensorboard_host,
                    )
                )
            score = RunPlan(
                spec=self._spec,
                backend=where,
                project=self._project,
                payload=self._payload,
                feed_secret=self._feed_secret,
                companions=companions,
            )
            lines = self._view.lines if self._spec.stream_logs else None
            conductor = RunController(
                score,
                run,
                announce=Announcement(run),
                on_lines=lines,
                before_end=self.close_accounts,
            )
            conductor.begin()
            self._conductor = conductor
            if self._spec.feed:
                ranks = [node.rank for node in self._spec.plan.nodes if node.trains]
                self.prepare_feeding(self._feed_secret, ranks, FeedRecord(self._project, run))
            self._resources = resources.pop_all()

    @property
    def _started(self) -> RunWriter:
        if self._run is None:
            raise NotStarted(self._name)
        return self._run

    def _join(self, timeout: float | None, began: float, attempt: int) -> None:
        deadline = float("inf") if timeout is None else began + timeout
        while not self._is_over.wait(max(0.0, min(POLL_SECONDS, deadline - time.monotonic()))):
            if time.monotonic() >= deadline:
                assert timeout is not None
                raise StillRunning(self.run_id, timeout)
            if self.attempt != attempt:  # nodes that were started again have not been told of the end
                attempt = self.attempt
                self.end_feeding(None if timeout is None else deadline - time.monotonic())

    def _conduct(self) -> None:
        assert self._conductor is not None
        try:
            with self._resources:
                try:
                    self._values = self._conductor.run()
                except RunStopped as stopped:
                    if self._failure is not None:
                        raise self._failure from None
                    self._started.finish(RunState.KILLED, error=stopped.reason)
                    raise
        except BaseException as error:  # noqa: BLE001  handed to whoever waits
            self._error = error
        finally:
            self._is_over.set()
