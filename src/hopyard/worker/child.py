"""A supervised child process: dies with its parent, its output captured, its end told in words."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Self

from hopyard.worker.warden import NO_PIPE

CHANNEL = "HOPYARD_CHANNEL"
WARDEN_SECONDS = 15.0
LONGEST_SELECT = 3600.0
WARDEN = Path(__file__).with_name("warden.py")
LONGEST_LINE = 64 * 1024
OOM_HINT = ", often the out-of-memory killer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit:
    """How a child process ended."""

    code: int | None  # None: its warden was killed, so nobody saw the code
    silence: int | None = None  # the seconds of this process's silence for which the warden ended it

    @property
    def signal(self) -> int | None:
        """The number of the signal that killed the process, if one did."""
        return -self.code if self.code is not None and self.code < 0 else None

    def __str__(self) -> str:
        if self.code is None:
            return "ended together with its warden process, which was killed"
        if self.silence is not None:
            return f"was ended by its warden process, as its supervisor had been silent for {self.silence} s (lease)"
        if self.signal is None:
            return f"ended with exit code {self.code}"
        try:
            name = f" ({signal.Signals(self.signal).name})"
        except ValueError:
            name = ""
        hint = OOM_HINT if self.signal == signal.SIGKILL else ""
        return f"was killed by signal {self.signal}{name}{hint}"


class LineSplitter:
    """Turns chunks of bytes into lines; an endless line comes out in pieces of bounded size."""

    def __init__(self, sink: Callable[[bytes], None]) -> None:
        self.sink = sink
        self.rest = b""

    def feed(self, chunk: bytes) -> None:
        """Takes the next chunk and hands on every line that it completes."""
        *lines, self.rest = (self.rest + chunk).split(b"\n")
        for line in lines:
            self._hand_on(line)
        if len(self.rest) > LONGEST_LINE:
            whole = len(self.rest) // LONGEST_LINE * LONGEST_LINE
            self._hand_on(self.rest[:whole])
            self.rest = self.rest[whole:]

    def _hand_on(self, line: bytes) -> None:
        for start in range(0, len(line) or 1, LONGEST_LINE):
            self.sink(line[start : start + LONGEST_LINE])

    def close(self) -> None:
        """Hands on what came after the last line break."""
        if self.rest:
            self.sink(self.rest)
            self.rest = b""


class Child:
    """A command that runs under a warden; leaving the context ends it and everything it started."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        on_line: Callable[[bytes], None],
        on_message: Callable[[bytes], None],
        env: Mapping[str, str],
        scratch: Path,
        grace_seconds: float = 5.0,
        inherited: Sequence[int] = (),
        longest_silence: float | None = None,
    ) -> None:
        """Prepares a child process without starting it.

        Args:
            command: Program and arguments.
            on_line: Receives each line of standard output and error, without its line break.
            on_message: Receives each line that the child writes to the channel, whose file descriptor
                it finds in HOPYARD_CHANNEL.
            env: The whole environment of the child.
            scratch: A folder to remove if this process is killed while the child runs.
            grace_seconds: How long `stop` waits between asking and killing.
            inherited: Descriptors that the child gets, under the same numbers.
            longest_silence: Seconds without `show_life` after which the child is killed: this process hangs,
                and others may take the child for lost; None if nobody would.
        """
        self.command = list(command)
        self.env = dict(env)
        self.scratch = scratch
        self.grace_seconds = grace_seconds
        self.inherited = tuple(inherited)
        self.longest_silence = longest_silence
        self.pid: int | None = None
        self._code: int | None = None
        self._silence: int | None = None
        self._output = LineSplitter(on_line)
        self._channel = LineSplitter(on_message)
        self._status = LineSplitter(self._heed)
        self._warden_gone = False
        self._resources = ExitStack()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Starts the process."""
        with ExitStack() as resources:
            status, status_write = _pipe(resources)
            output, output_write = _pipe(resources)
            channel, channel_write = _pipe(resources)
            life, self._life = _pipe(resources)
            os.set_blocking(self._life.fileno(), False)
            self._selector = resources.enter_context(selectors.DefaultSelector())
            self._selector.register(status, selectors.EVENT_READ, self._status)
            self._selector.register(output, selectors.EVENT_READ, self._output)
            self._selector.register(channel, selectors.EVENT_READ, self._channel)
            self.env[CHANNEL] = str(channel_write.fileno())
            listens = self.longest_silence is not None
            self._warden = subprocess.Popen(
                warden_command(
                    self.command,
                    status_write.fileno(),
                    self.grace_seconds,
                    str(self.scratch),
                    life=life.fileno() if listens else NO_PIPE,
                    longest_silence=self.longest_silence,
                ),
                stdin=subprocess.DEVNULL,
                stdout=output_write,
                stderr=output_write,
                env=self.env,
                pass_fds=[status_write.fileno(), channel_write.fileno(), life.fileno(), *self.inherited],
                start_new_session=True,
            )
            for file in (status_write, output_write, channel_write, life):
                file.close()
            self._resources = resources.pop_all()

    def close(self) -> None:
        """Ends the process and everything it started, and returns when they are gone."""
        with self._resources:
            self.stop()
            if self.wait(self.grace_seconds + WARDEN_SECONDS) is None:
                self._warden.kill()
                self._kill_command()
            self._warden.wait(WARDEN_SECONDS)

    def wait(self, timeout: float | None = None, *, until: Callable[[], bool] = lambda: False) -> Exit | None:
        """Hands on the child's output until its end and tells how it ended.

        Args:
            timeout: Seconds to wait at the most; None for no limit.
            until: Asked whenever something was handed on: whether that was what the caller waits for.

        Returns:
            None if it still runs after ``timeout`` seconds, or when `until` says so; call again to go on.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while self._selector.get_map():
            patience = LONGEST_SELECT if deadline is None else max(0.0, deadline - time.monotonic())
            if self._warden_gone:
                # what still holds the output open has left our reach; take what is there and go
                patience = 0.0
            events = self._selector.select(min(patience, LONGEST_SELECT))
            for key, _ in events:
                self._read(key)
            if not events and self._warden_gone:
                break
            if events and until():
                return None
            if deadline is not None and time.monotonic() >= deadline:
                return None
        self._output.close()
        return Exit(code=self._code, silence=self._silence)

    def show_life(self) -> None:
        """Tells the warden that this process goes on; any thread may do so while the child is open."""
        with suppress(BlockingIOError, BrokenPipeError):  # it has not read the last ones yet, or has ended
            os.write(self._life.fileno(), b".")

    def stop(self) -> None:
        """Asks the child to end (SIGTERM); what is left after the grace period is killed."""
        self._warden.terminate()

    def _read(self, key: selectors.SelectorKey) -> None:
        """Moves what a pipe holds to its splitter."""
        assert isinstance(key.fileobj, FileIO)
        chunk = key.fileobj.read(1 << 16)
        if chunk:
            key.data.feed(chunk)
            return
        self._selector.unregister(key.fileobj)
        key.data.close()
        if key.data is self._status:
            self._warden_gone = True
            if self._code is None:
                self._kill_command()

    def _heed(self, line: bytes) -> None:
        """Records a line of the warden."""
        word, number = line.split()
        if word == b"started":
            self.pid = int(number)
        elif word == b"silent":
            self._silence = int(number)
        else:
            self._code = int(number)

    def _kill_command(self) -> None:
        """Kills the command's process group; its warden is dead or does not answer."""
        if self.pid is not None:
            # the kernel may have been faster: it kills the command when the warden dies
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)


def warden_command(
    command: Sequence[str],
    status: int,
    grace_seconds: float,
    scratch: str = "",
    *,
    life: int = NO_PIPE,
    longest_silence: float | None = None,
) -> list[str]:
    """Returns the command line that runs a command under a warden of this process."""
    silence = "inf" if longest_silence is None else str(longest_silence)
    orders = (str(status), str(os.getpid()), str(grace_seconds), scratch, str(life), silence)
    return [sys.executable, "-I", "-S", str(WARDEN), *orders, *command]


def _pipe(resources: ExitStack) -> tuple[FileIO, FileIO]:
    """Makes a pipe whose ends close with the resources, or earlier."""
    read, write = os.pipe()
    return resources.enter_context(FileIO(read, "rb")), resources.enter_context(FileIO(write, "wb"))
