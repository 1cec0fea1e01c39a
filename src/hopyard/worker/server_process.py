"""Server processes that cannot outlive the process that started them."""

from __future__ import annotations

import os
import subprocess
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from hopyard.worker.child import warden_command

WARDEN_SECONDS = 15.0


class ServerProcess:
    """A running server; it ends with its owner, however the owner ends."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        log: Path,
        env: Mapping[str, str] | None = None,
        grace_seconds: float = 5.0,
    ) -> None:
        """Starts the server.

        Args:
            command: Program and arguments.
            log: File that standard output and error are appended to.
            env: Its environment; that of this process if not given.
            grace_seconds: How long `stop` waits between asking and killing.
        """
        self.command = tuple(command)
        self.log = log
        self._grace_seconds = grace_seconds
        with log.open("ab") as output, open(os.devnull, "wb") as status:
            self._warden = subprocess.Popen(
                warden_command(self.command, status.fileno(), grace_seconds),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=env,
                pass_fds=[status.fileno()],
                start_new_session=True,  # Ctrl-C in the owner's terminal is the owner's affair
            )

    @property
    def is_running(self) -> bool:
        """Whether the server is still there."""
        return self._warden.poll() is None

    def stop(self) -> None:
        """Ends the server, politely at first; returns when it and all it started are gone."""
        self._warden.terminate()
        try:
            self._warden.wait(self._grace_seconds + WARDEN_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """Ends the server without warning, as a crash would."""
        self._warden.kill()
        self._warden.wait()

    def last_lines(self, count: int = 20) -> str:
        """Returns the end of the log."""
        with self.log.open(errors="replace") as lines:
            return "".join(deque(lines, count)).rstrip()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
