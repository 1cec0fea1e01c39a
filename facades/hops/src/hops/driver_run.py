"""An experiment in the driver itself: all that happens between ``begin()`` and ``end()``."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hops.calls import takes_spark
from hops.label import NO_NAME, Label, has_tensorboard
from hops.resources import versioned
from hopyard.backends.base import Crew
from hopyard.backends.inline import InlineBackend, InlineWorkers
from hopyard.control.service import PoolService
from hopyard.run.context import NodeContext
from hopyard.run.launch import launch
from hopyard.spark.session import active_context
from hopyard.store import Project
from hopyard.tracking import RunId, run_paths
from hopyard.worker.gpus.request import DeviceRequest

KIND = "begin"
POLL_SECONDS = 0.25


@takes_spark
def begin(
    name: str = NO_NAME,
    local_logdir: bool = False,
    versioned_resources: Sequence[str] | None = None,
    description: str | None = None,
    *,
    spark: Any = None,
) -> str:
    """Makes what follows in this program a run, until `end`; returns the folder of the run.

    What the program prints is its log, too, and `hops.tensorboard.logdir` is its log folder.

    Args:
        name: A name for the run.
        local_logdir: Without effect.
        versioned_resources: Files of the project that are copied into the run's folder.
        description: Free text that is kept with the run.
        spark: The session; the active one if not given. It need not exist.

    Raises:
        RuntimeError: There is such a run already.
    """
    if _under_way() is not None:
        raise RuntimeError("an experiment is under way already; call experiment.end() first")
    context = active_context() if spark is None else getattr(spark, "sparkContext", spark)
    label = Label.of(name, versioned_resources, description)
    run = DriverRun(label, application=None if context is None else str(context.applicationId))
    with versioned(label.resources) as resources:
        folder = run.begin()
        try:
            resources.copy_to(folder)
        except BaseException:
            run.end(None)
            raise
    return folder


def end(metric: Any = None) -> None:
    """Ends the run that `begin` began.

    Args:
        metric: What came of it; kept in the run's record.

    Raises:
        RuntimeError: There is no such run.
    """
    run = _under_way()
    if run is None:
        raise RuntimeError("no experiment is under way; call experiment.begin() first")
    run.end(metric)


def _under_way() -> DriverRun | None:
    # The run is held by its thread, so there need not be a variable that all calls share.
    return next((thread for thread in threading.enumerate() if isinstance(thread, DriverRun)), None)


class DriverRun(threading.Thread):
    """Holds a run of this very process open until it is told to end it, or the program ends.

    Args:
        label: What the run is called.
        application: The application that it belongs to; None for this process.
    """

    def __init__(self, label: Label, application: str | None) -> None:
        # Not a daemon: the interpreter waits for it, so that the end of the run is on record.
        super().__init__(name="hops-experiment", daemon=False)
        self._label = label
        self._application = application
        self._has_begun = threading.Event()
        self._is_told = threading.Event()
        self._folder = ""
        self._metric: Any = None
        self._error: BaseException | None = None

    def begin(self) -> str:
        """Returns the folder of the run once it is under way."""
        self.start()
        self._has_begun.wait()
        if self._error is not None:
            raise self._error
        return self._folder

    def end(self, metric: Any) -> None:
        """Returns when the run has ended and is on record."""
        self._metric = metric
        self._is_told.set()
        self.join()
        if self._error is not None:
            raise self._error

    def run(self) -> None:
        """Runs a node in this process that does nothing but wait: what it is there for happens around it."""
        try:
            launch(
                _hold,
                kind=KIND,
                name=self._label.name or KIND,
                description=self._label.description,
                backend=DriverBackend(application=self._application),
                tensorboard=has_tensorboard(),
                progress=False,
            )
        except BaseException as error:  # noqa: BLE001  handed to whoever begins or ends it
            self._error = error
        finally:
            self._has_begun.set()

    def hold(self) -> Any:
        """Returns the metric once it is told."""
        project = Project.open()
        self._folder = project.url(run_paths(project, RunId.parse(NodeContext.current().run_id)).folder)
        self._has_begun.set()
        while not self._is_told.wait(POLL_SECONDS):
            if not threading.main_thread().is_alive():
                raise RuntimeError("the program ended without experiment.end()")
        return self._metric


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverBackend:
    """Runs a node in the calling thread, as a run of the application that the driver is."""

    application: str | None
    name: str = "inline"
    encrypts: bool = False

    def room(self, devices: DeviceRequest) -> int:
        """Returns 1: this process."""
        return InlineBackend().room(devices)

    def start(self, crew: Crew, service: PoolService) -> InlineWorkers:
        """Runs all nodes to their end."""
        return InlineBackend().start(crew, service)


def _hold() -> Any:
    return threading.current_thread().hold()  # type: ignore[attr-defined]  # by name: what is pickled may be copied
