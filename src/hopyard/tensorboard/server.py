"""A TensorBoard server over a folder in any store."""

from __future__ import annotations

import html
import importlib.util
import logging
import os
import re
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from hopyard.errors import MissingDependency, ServerNotReady
from hopyard.scratch import scratch_folder
from hopyard.store import Project
from hopyard.store.place import Place
from hopyard.tensorboard.mirror import EventMirror
from hopyard.tensorboard.owner import OwnerThread
from hopyard.tensorboard.source import find_folder
from hopyard.worker.periodic import Periodic
from hopyard.worker.server_process import ServerProcess

LOG = logging.getLogger(__name__)
_LOOK_AGAIN_SECONDS = 0.05
_READY = re.compile(r"TensorBoard \S+ at (?P<url>https?://\S+)")
_EVERYWHERE = {"0.0.0.0", "::"}  # noqa: S104  compared with, not bound to


class TensorBoardServer:
    """A TensorBoard of its own process; runs from `start` to `stop`, or within a ``with`` block.

    A folder of a project, on whatever store, is shown by way of a local copy of its event files that is
    kept up to date, so a run can be watched while it goes on. Any other local folder is served as it is.
    The server ends with this program, however the program ends.

    Args:
        logdir: A run's folder or any folder above: relative to the project, ``/Projects/<name>/…``, or a
            full local path or URL.
        project: The project that is meant where `logdir` does not say; `Project.open` if not given.
        host: Address to listen on; ``0.0.0.0`` lets other machines in.
        port: Port to listen on; 0 takes a free one.
        start_timeout_seconds: How long the start may take.
        refresh_seconds: How often new events are looked for.
    """

    def __init__(
        self,
        logdir: str,
        *,
        project: Project | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        start_timeout_seconds: float = 60.0,
        refresh_seconds: float = 5.0,
    ) -> None:
        self.logdir = logdir
        self._project = project
        self._host = host
        self._port = port
        self._start_timeout_seconds = start_timeout_seconds
        self._refresh_seconds = refresh_seconds
        self._url = ""
        self._process: ServerProcess | None = None
        self._cancelled = threading.Event()
        self._owner: OwnerThread | None = None

    def start(self) -> Self:
        """Starts the server and returns when it answers; nothing happens if it was started already.

        Raises:
            PathNotFound: There is no such folder.
            NotAFolder: It is a file.
            InvalidName: It is on a remote store and in no project.
            MissingDependency: TensorBoard is not installed.
            ServerNotReady: It ended at once or took too long; the error has the end of its log.
        """
        if self._owner is not None:
            return self
        self.require()
        source = find_folder(self.logdir, self._project)
        with ExitStack() as resources:
            scratch = resources.enter_context(scratch_folder("tensorboard"))
            served, mirror = _served(source, scratch)
            self._process = process = ServerProcess(
                self._command(served), log=scratch / "log", env=_environment()
            )
            resources.callback(process.stop)
            if mirror is not None:
                mirror.sync()  # while the server starts, so that it has all when it answers
            self._url = self._wait_until_ready(process)
            tick = _Tick(self.logdir, process, mirror, self._refresh_seconds)
            self._owner = OwnerThread(resources.pop_all(), tick, "hopyard-tensorboard")
        return self

    def require(self) -> None:
        """Makes sure that TensorBoard is installed.

        Raises:
            MissingDependency: It is not.
        """
        if importlib.util.find_spec("tensorboard") is None:
            raise MissingDependency("tensorboard", "a TensorBoard server", "tensorboard")

    @property
    def is_cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Makes a `start` that is under way in another thread give up, with ServerNotReady."""
        self._cancelled.set()

    def stop(self) -> None:
        """Ends the server and returns when its process, its thread and its files are gone."""
        if self._owner is not None:
            self._owner.release()
            self._owner = None

    @property
    def url(self) -> str:
        """Where it answers, with a trailing slash; empty before the start."""
        return self._url

    @property
    def is_running(self) -> bool:
        """Whether the server is there."""
        return self._process is not None and self._process.is_running

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<TensorBoard of {self.logdir} at {self._url or '(not started)'}>"

    def _repr_html_(self) -> str:
        """Shows a link in a notebook."""
        return f'<a href="{html.escape(self._url)}" target="_blank">{html.escape(repr(self)[1:-1])}</a>'

    def _command(self, served: Path) -> list[str]:
        options = {
            "--logdir": str(served),
            "--host": self._host,
            "--port": str(self._port),
            "--reload_interval": str(self._refresh_seconds),
        }
        # -P: a tensorboard.py in the current folder is not what is meant
        command = [sys.executable, "-P", "-m", "tensorboard.main"]
        return command + [word for option in options.items() for word in option]

    def _wait_until_ready(self, process: ServerProcess) -> str:
        deadline = time.monotonic() + self._start_timeout_seconds
        while True:
            running = process.is_running  # asked first, so that the last lines of a dead server are seen
            if match := _READY.search(process.log.read_text(errors="replace")):
                return _reachable(match["url"], self._host)
            if not running or time.monotonic() > deadline or self._cancelled.wait(_LOOK_AGAIN_SECONDS):
                state = "still starting" if running else "it ended"
                raise ServerNotReady("TensorBoard", self._start_timeout_seconds, state, process.last_lines())


class _Tick:
    """What is done now and then while the server runs."""

    def __init__(
        self, logdir: str, process: ServerProcess, mirror: EventMirror | None, refresh_seconds: float
    ) -> None:
        self._logdir = logdir
        self._process = process
        self._chores = [] if mirror is None else [Periodic(mirror.sync, refresh_seconds)]

    def __call__(self) -> bool:
        if not self._process.is_running:
            LOG.warning("the TensorBoard of %s ended:\n%s", self._logdir, self._process.last_lines())
            return False
        for chore in self._chores:
            chore.run_if_due()
        return True


def _served(source: Place | Path, scratch: Path) -> tuple[Path, EventMirror | None]:
    """Returns the folder that TensorBoard reads, and what keeps it up to date if it is a copy."""
    if isinstance(source, Path):
        return source, None
    copies = scratch / "events"
    copies.mkdir()
    return copies, EventMirror(source, copies, scratch / "incoming")


def _environment() -> dict[str, str]:
    # TensorBoard loads TensorFlow where it finds one, and that would take memory of a GPU.
    return {**os.environ, "CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "2"}


def _reachable(url: str, host: str) -> str:
    """Returns the URL with an address of this machine where the server listens on all of them."""
    if host not in _EVERYWHERE:
        return url
    # Here, as it loads Arrow: a node that only asks for its log folder does without.
    from hopyard.wire.address import routable_address

    return url.replace(host, routable_address())
