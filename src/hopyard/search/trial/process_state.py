"""What a process is like around a trial: trials that share one find it as the first of them did."""

from __future__ import annotations

import logging
import os
import resource
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from hopyard.frameworks.registry import forget_all

LIMITS = tuple(getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessState:
    """A process as it is before its first trial.

    Attributes:
        pid: Which process; one that a trial forks is another.
        folder: The working folder.
        refuge: Where to go if that one is no more.
        variables: The environment.
        streams: Standard output and error.
        handlers: Those of the root logger.
        level: That of the root logger.
        limits: What the kernel allows the process.
    """

    pid: int
    folder: str
    refuge: str
    variables: Mapping[str, str]
    streams: tuple[Any, Any]
    handlers: tuple[logging.Handler, ...]
    level: int
    limits: tuple[tuple[int, int], ...]

    @classmethod
    def here(cls, refuge: Path) -> Self:
        """Returns what this process is like now."""
        root = logging.getLogger()
        return cls(
            pid=os.getpid(),
            folder=_working_folder() or str(refuge),
            refuge=str(refuge),
            variables=dict(os.environ),
            streams=(sys.stdout, sys.stderr),
            handlers=tuple(root.handlers),
            level=root.level,
            limits=_limits(),
        )

    @contextmanager
    def around(self, variables: Mapping[str, str]) -> Iterator[None]:
        """Gives a trial its environment, and makes the process afterwards what it was before."""
        os.environ.update(variables)
        tempfile.tempdir = None
        try:
            yield
        finally:
            self._restore()

    def flush(self) -> None:
        """Sends off what was printed, wherever it was printed to."""
        for stream in (*self.streams, sys.stdout, sys.stderr):
            with suppress(Exception):  # it is None, closed, leads nowhere, or is the user's own
                stream.flush()

    def left(self) -> str:
        """Returns what a trial leaves that cannot be undone, in words; nothing if another one may follow here."""
        threads = [thread.name for thread in threading.enumerate() if not thread.daemon]
        if len(threads) > 1:
            return f"threads running ({', '.join(threads[1:])})"
        if _has_children() or _has_siblings():
            return "processes running"
        if any(stream is None or stream.closed for stream in self.streams):
            return "its output closed"
        return "" if _limits() == self.limits else "other limits"

    def _restore(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        try:
            os.chdir(self.folder)
        except OSError:
            os.chdir(self.refuge)
        for name in os.environ.keys() - self.variables.keys():
            del os.environ[name]
        os.environ.update(self.variables)
        sys.stdout, sys.stderr = self.streams
        root = logging.getLogger()
        root.handlers[:] = self.handlers
        root.setLevel(self.level)
        forget_all()


def _working_folder() -> str | None:
    try:
        return os.getcwd()
    except FileNotFoundError:
        return None


def _limits() -> tuple[tuple[int, int], ...]:
    return tuple(map(resource.getrlimit, LIMITS))


def _has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _has_siblings() -> bool:
    """Tells whether the warden has other children than this process: those that lost their parents come to it."""
    warden = os.getppid()
    try:
        with open(f"/proc/{warden}/task/{warden}/children") as children:
            return len(children.read().split()) > 1
    except OSError:  # not Linux: nobody knows
        return False
