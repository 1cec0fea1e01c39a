"""Server processes that cannot outlive the process that started them.

`TetheredProcess` puts a small supervisor between the owner and the server. The supervisor waits for
either to end, through file descriptors of the processes themselves (``pidfd``): unlike a pipe, these
cannot be kept open by a forked sibling. The server in turn asks the kernel to be killed when the
supervisor dies (``PR_SET_PDEATHSIG``). That signal is tied to the *thread* which started a process,
which is why the owner does not use it directly: the supervisor has one thread only.

This file is also the supervisor's program. It is run by its path in a bare interpreter, so it imports
nothing but the standard library. Linux only.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, NoReturn, Self

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from types import FrameType

_PR_SET_PDEATHSIG = 1
_SERVER_GRACE_SECONDS = 5.0
_SUPERVISOR_GRACE_SECONDS = _SERVER_GRACE_SECONDS + 5.0


class TetheredProcess:
    """A running server process that ends with its owner, however the owner ends."""

    def __init__(self, command: Sequence[str], *, log: Path, env: Mapping[str, str] | None = None) -> None:
        """Starts `command`.

        Args:
            command: Program and arguments.
            log: File that standard output and standard error are appended to.
            env: Environment of the server; this process's own if not given.
        """
        self.command = tuple(command)
        self.log = log
        supervisor = [sys.executable, "-I", "-S", __file__, str(os.getpid()), *command]
        with log.open("ab") as out:
            # A session of its own keeps Ctrl-C of the owner's terminal from stopping the server first.
            self._supervisor = subprocess.Popen(
                supervisor, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=env, start_new_session=True
            )

    @property
    def is_running(self) -> bool:
        """Whether the server is still there."""
        return self._supervisor.poll() is None

    def stop(self) -> None:
        """Ends the server, politely at first; returns when it is gone."""
        self._supervisor.terminate()
        try:
            self._supervisor.wait(_SUPERVISOR_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self._supervisor.kill()
            self._supervisor.wait()

    def kill(self) -> None:
        """Ends the server without warning, as a crash would."""
        self._supervisor.send_signal(signal.SIGUSR1)
        self._supervisor.wait(_SUPERVISOR_GRACE_SECONDS)

    def last_lines(self, count: int = 20) -> str:
        """Returns the end of the log."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-count:])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.stop()


def supervise(owner_pid: int, command: Sequence[str]) -> int:
    """Runs `command` until it ends or the owner does, and returns its exit status."""
    signal.signal(signal.SIGTERM, _exit_on_signal)
    owner = os.pidfd_open(owner_pid)
    if os.getppid() != owner_pid:  # it died, and its id may belong to a stranger by now
        return 1
    # This process has one thread, so code between fork and exec is safe.
    server = subprocess.Popen(command, preexec_fn=_DieWith(os.getpid()))
    signal.signal(signal.SIGUSR1, lambda *_: server.kill())
    try:
        select.select([owner, os.pidfd_open(server.pid)], [], [])
    finally:
        _end(server)
    return server.returncode


class _DieWith:
    """Runs in the server before its program does: asks for death with the supervisor."""

    def __init__(self, supervisor_pid: int) -> None:
        self._supervisor_pid = supervisor_pid
        self._libc = ctypes.CDLL(None, use_errno=True)

    def __call__(self) -> None:
        if self._libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL) != 0:
            raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG) failed")
        if os.getppid() != self._supervisor_pid:  # it died before the request
            os._exit(1)


def _end(server: subprocess.Popen[bytes]) -> None:
    if server.poll() is not None:
        return
    server.terminate()
    try:
        server.wait(_SERVER_GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def _exit_on_signal(number: int, _frame: FrameType | None) -> NoReturn:
    sys.exit(128 + number)


if __name__ == "__main__":
    sys.exit(supervise(int(sys.argv[1]), sys.argv[2:]))
