"""The record of a run, kept up to date by the driver from the run's first moment to its end."""

from __future__ import annotations

import dataclasses
import errno
import getpass
import logging
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import metadata
from types import TracebackType
from typing import Self

from hopyard.codec.json_value import Json
from hopyard.codec.records import encode_file
from hopyard.errors import AlreadyExists, PathNotFound, RunEnded
from hopyard.store import Project
from hopyard.telling_line import telling_line
from hopyard.tracking.driver_process import DriverProcess
from hopyard.tracking.paths import run_paths
from hopyard.tracking.records import RunRecord
from hopyard.tracking.runid import RunId, run_number
from hopyard.tracking.states import RunState

LOG = logging.getLogger(__name__)
DESCRIPTOR_SECONDS = 10.0
PAUSE_SECONDS = 0.1
_ENDS = (RunState.FINISHED, RunState.FAILED, RunState.KILLED)


class RunWriter:
    """Keeps ``run.json`` of one run; the only writer of that file.

    As a context manager it ends the run whatever happens: FINISHED, FAILED with the exception's text, or KILLED
    for what is not an `Exception` (the user's Ctrl-C). Methods may be called from several threads.
    """

    def __init__(
        self,
        project: Project,
        record: RunRecord,
        *,
        clock: Callable[[], float] = time.time,
        patience: float = DESCRIPTOR_SECONDS,
    ) -> None:
        """Takes over a record that `begin` has created.

        Args:
            project: Where the run is kept.
            record: The record.
            clock: Seconds since the epoch.
            patience: Seconds to wait where this process may open no more files: a crowd of strangers is gone by then.
        """
        self._project = project
        self._record = record
        self._clock = clock
        self._patience = patience
        self._descriptors = threading.Event()  # nobody tells when there are some again
        # A heartbeat thread must not write RUNNING over the end that another thread is writing.
        self._lock = threading.Lock()
        self._is_given_up = False  # its end could not be recorded, which was told

    @classmethod
    def begin(
        cls,
        project: Project,
        *,
        app_id: str,
        kind: str,
        name: str,
        nodes: int,
        backend: str,
        description: str = "",
        user: str | None = None,
        heartbeat_seconds: float = 10.0,
        details: Mapping[str, Json] | None = None,
        roles: Sequence[str] = (),
        trial: RunId | None = None,
        driver: DriverProcess | None = None,
        clock: Callable[[], float] = time.time,
        patience: float = DESCRIPTOR_SECONDS,
    ) -> Self:
        """Returns the writer of a new run, which has the next free number and is RUNNING in the project.

        Drivers that begin at the same moment get different numbers. A run that is a trial of a study is given its id; it
        takes the place of an earlier attempt at the trial.
        """
        if roles and len(roles) != nodes:
            raise ValueError(f"{nodes} nodes have as many roles, not {len(roles)}: {', '.join(roles)}")
        now = clock()
        draft = RunRecord(
            id=trial or RunId(app_id, kind, _next_number(project, app_id, kind)),
            name=name,
            description=description,
            state=RunState.RUNNING,
            backend=backend,
            nodes=nodes,
            user=_current_user() if user is None else user,
            version=_version(),
            started=now,
            updated=now,
            heartbeat_seconds=heartbeat_seconds,
            details=dict(details or {}),
            roles=tuple(roles),
            driver=(driver or DriverProcess.this()).to_json(),
        )
        if trial is None:
            return cls(project, _create(project, draft), clock=clock, patience=patience)
        writer = cls(project, draft, clock=clock, patience=patience)
        writer.heartbeat()
        return writer

    @classmethod
    def resume(
        cls, project: Project, record: RunRecord, reason: str, *, clock: Callable[[], float] = time.time
    ) -> Self:
        """Returns the writer of a run that goes on where an earlier driver left it; it is RUNNING again.

        The caller has made sure that the earlier driver is gone.

        Args:
            project: Where the run is kept.
            record: The run as the earlier driver left it.
            reason: Why it is taken up again.
            clock: Seconds since the epoch.
        """
        driver = DriverProcess.this().to_json()
        again = dataclasses.replace(record, state=RunState.RUNNING, ended=None, error=None, driver=driver)
        writer = cls(project, again, clock=clock)
        writer.restarted(record.attempts, reason)
        return writer

    @property
    def id(self) -> RunId:
        """Which run this is."""
        return self._record.id

    @property
    def record(self) -> RunRecord:
        """The record as last written."""
        return self._record

    def heartbeat(self) -> None:
        """Tells readers that the driver is alive; after the end of the run it does nothing."""
        with self._lock:
            if self._record.state is RunState.RUNNING:
                self._put(dataclasses.replace(self._record, updated=self._clock()))

    def annotate(self, **details: Json) -> None:
        """Adds to the details of a run that goes on; after its end it does nothing."""
        with self._lock:
            if self._record.state is RunState.RUNNING:
                self._put(dataclasses.replace(self._record, details={**self._record.details, **details}))

    def restarted(self, attempt: int, reason: str) -> None:
        """Tells readers that all nodes are started again; to be called before the first of them is.

        Args:
            attempt: The number of this start, one more than that of the last; the first start was 0.
            reason: Why the last attempt ended.

        Raises:
            RunEnded: The run has ended before.
        """
        with self._lock:
            self._check_running()
            if attempt != self._record.attempts:
                raise ValueError(f"attempt {attempt} cannot follow attempt {self._record.attempts - 1}")
            self._put(
                dataclasses.replace(
                    self._record,
                    attempts=attempt + 1,
                    restarts=(*self._record.restarts, reason),
                    updated=self._clock(),
                )
            )

    def poll(self) -> None:
        """Sends a heartbeat if one is due; cheap enough to call often."""
        if self._clock() - self._record.updated >= self._record.heartbeat_seconds:
            self.heartbeat()

    def finish(self, state: RunState, *, error: str | None = None, value: str | None = None) -> None:
        """Ends the run.

        Args:
            state: FINISHED, FAILED or KILLED.
            error: Summary of what went wrong.
            value: Printed form of what the training function returned.

        Raises:
            RunEnded: The run has ended before.
        """
        if state not in _ENDS:
            raise ValueError(f"a run ends FINISHED, FAILED or KILLED, not {state.value}")
        with self._lock:
            self._check_running()
            now = self._clock()
            ended = dataclasses.replace(
                self._record, state=state, ended=now, updated=now, error=error, value=value
            )
            self._put(ended)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._record.state is not RunState.RUNNING or self._is_given_up:
            return
        if error is None:
            self.finish(RunState.FINISHED)
        else:
            state = RunState.FAILED if isinstance(error, Exception) else RunState.KILLED
            self.finish_after(error, state, _summary(error))

    def finish_after(self, error: BaseException, state: RunState, summary: str) -> None:
        """Ends the run because of an error; if the store does not take that, the error and the log say so.

        Args:
            error: What ended the run, which matters more than that its end is not on record.
            state: FAILED or KILLED.
            summary: What of it goes on record.
        """
        try:
            self.finish(state, error=summary)
        except OSError as failure:
            self._is_given_up = True
            told = (
                f"The end of the run could not be recorded: {str(failure).rstrip('.')}. Run {self.id} is on record as "
                f"RUNNING, and as LOST {self._record.seconds_until_lost:.0f} s after its last heartbeat."
            )
            LOG.warning("%s", told)
            error.add_note(told)

    def _check_running(self) -> None:
        if self._record.state is not RunState.RUNNING:
            raise RunEnded(str(self.id), self._record.state.value)

    def _put(self, record: RunRecord) -> None:
        path, content = run_paths(self._project, record.id).record, encode_file(record)
        deadline = time.monotonic() + self._patience
        while True:
            try:
                self._project.put(path, content)
            except OSError as error:
                if error.errno not in (errno.EMFILE, errno.ENFILE) or time.monotonic() > deadline:
                    raise
                self._descriptors.wait(PAUSE_SECONDS)
            else:
                break
        self._record = record


def _create(project: Project, draft: RunRecord) -> RunRecord:
    """Stores `draft` under its number, or the first later one that nobody has taken meanwhile."""
    while True:
        try:
            project.create(run_paths(project, draft.id).record, encode_file(draft))
        except AlreadyExists:
            draft = dataclasses.replace(draft, id=dataclasses.replace(draft.id, number=draft.number + 1))
        else:
            return draft


def _next_number(project: Project, app_id: str, kind: str) -> int:
    """Returns the number after the highest; folders without a record count, they may be older programs'."""
    try:
        entries = project.list(project.layout.kind(app_id, kind))
    except PathNotFound:
        return 1
    return max((run_number(entry.name) or 0 for entry in entries), default=0) + 1


def _summary(error: BaseException) -> str:
    text = telling_line(str(error)) or str(error)
    summary = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return "\n".join((summary, *getattr(error, "__notes__", ())))


def _current_user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        # Containers run under numbers that no password file knows.
        return str(os.getuid())


def _version() -> str:
    try:
        return metadata.version("hopyard")
    except metadata.PackageNotFoundError:
        # Shipped as a bare archive, as Spark's --py-files does.
        return "unknown"
