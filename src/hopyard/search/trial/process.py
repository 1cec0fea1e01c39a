"""The process in which a slot runs its trials: kept warm for the next one, replaced when it is no good any more."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from io import FileIO
from pathlib import Path

from hopyard.codec.records import to_json
from hopyard.errors import TrialTimeout
from hopyard.protocol.channel import VERDICTS
from hopyard.search.trial.listener import TrialListener
from hopyard.search.trial.order import ORDERS, Ending, TrialOrder
from hopyard.tracking import TrialState
from hopyard.worker.child import Child, Exit

DIED = "ProcessDied"
START_SECONDS = 120.0
MARK_SECONDS = 5.0


class TrialProcess:
    """Runs trials in a child process, one at a time; `stop` may come from another thread.

    Args:
        scratch: A folder of the slot, with the payload in it.
        environment: The whole environment of the process; trials add to it.
        longest_silence: See `Child`.
    """

    def __init__(
        self, scratch: Path, environment: Mapping[str, str], *, longest_silence: float | None = None
    ) -> None:
        self._scratch = scratch
        self._environment = environment
        self._longest_silence = longest_silence
        self._resources = ExitStack()
        self._child: Child | None = None
        self._orders: FileIO | None = None
        self._answers: FileIO | None = None
        self._ear: TrialListener | None = None
        self._lock = threading.Lock()
        self._is_stopped = False
        self._is_cut = False  # stopped in mid-trial: what the function returns then may be half a result

    def run(self, order: TrialOrder, ear: TrialListener, seconds: float | None = None) -> Ending | None:
        """Runs one trial and returns how it ended; None if the process was stopped meanwhile, or this one hung.

        Args:
            order: The trial.
            ear: Hears what it prints and reports.
            seconds: How long it may take once it has begun; None for no limit.
        """
        self._ear = ear
        child = self._ready()
        ended = None if child is None else self._begin(child, order, ear)
        if ended is not None and not ear.has_begun:  # it died of what the trial before has left
            self.close()
            child = self._ready()
            ended = None if child is None else self._begin(child, order, ear)
        if child is None:
            return None
        if ended is None and ear.has_begun and not ear.has_ended:
            ended = child.wait(seconds, until=ear.listen)
        if ended is None and ear.has_ended and not ear.is_complete:
            ended = child.wait(MARK_SECONDS, until=lambda: ear.is_complete)
        return self._ending(order, ear, ended, seconds)

    def stop(self) -> None:
        """Ends the process, now and for good."""
        with self._lock:
            self._is_cut = self._is_cut or (self._ear is not None and not self._ear.has_ended)
            self._is_stopped = True
            if self._child is not None:
                self._child.stop()

    def show_life(self) -> None:
        """Tells the process's warden that this one goes on."""
        with self._lock:
            if self._child is not None:
                self._child.show_life()

    def close(self) -> None:
        """Ends the process; the next trial gets another one."""
        with self._lock:
            self._child = None
        with self._resources:
            self._resources = ExitStack()

    def answer(self, verdict: bytes) -> None:
        """Tells the trial that asked whether to go on."""
        assert self._answers is not None
        with suppress(BrokenPipeError):  # it has died meanwhile
            self._answers.write(verdict)

    def _ending(
        self, order: TrialOrder, ear: TrialListener, ended: Exit | None, seconds: float | None
    ) -> Ending | None:
        self._ear = None
        told = Ending.read(Path(order.folder)) if ear.has_ended or ended is not None else None
        is_usable = told is not None and not told.left and ear.is_complete and ended is None
        if not is_usable:
            self.close()
        ear.close()
        if self._is_stopped and (told is None or self._is_cut):
            return None
        if told is not None:
            return told
        if ended is not None and ended.silence is not None:  # this process was lost to the driver meanwhile
            return None
        if ended is None and not ear.has_begun:
            error = f"its process did not start within {START_SECONDS:.0f} s"
            return Ending(state=TrialState.FAILED, error_type=DIED, error=error)
        if ended is None:
            assert seconds is not None
            late = TrialTimeout(seconds)
            return Ending(state=TrialState.FAILED, error_type=type(late).__name__, error=str(late))
        return Ending(state=TrialState.FAILED, error_type=DIED, error=_death(ended))

    def _ready(self) -> Child | None:
        """Returns the process, started if there is none; None once it was stopped."""
        if self._child is not None:
            return self._child
        with ExitStack() as resources:
            orders_read, self._orders = _pipe(resources)
            verdicts_read, self._answers = _pipe(resources)
            child = Child(
                [sys.executable, "-m", "hopyard.search.trial.entry", str(self._scratch)],
                on_line=self._line,
                on_message=self._message,
                env={
                    **self._environment,
                    ORDERS: str(orders_read.fileno()),
                    VERDICTS: str(verdicts_read.fileno()),
                },
                scratch=self._scratch,
                inherited=(orders_read.fileno(), verdicts_read.fileno()),
                longest_silence=self._longest_silence,
            )
            with self._lock:
                if self._is_stopped:
                    return None
                resources.enter_context(child)
                self._child = child
            orders_read.close()
            verdicts_read.close()
            self._resources = resources.pop_all()
        return child

    def _begin(self, child: Child, order: TrialOrder, ear: TrialListener) -> Exit | None:
        """Gives a trial to the process; returns None once it has begun, or how the process ended before."""
        assert self._orders is not None
        left = memoryview(json.dumps(to_json(order)).encode() + b"\n")
        with suppress(BrokenPipeError):  # it has ended, which the wait tells
            while left:
                left = left[self._orders.write(left) :]
        return child.wait(START_SECONDS, until=lambda: ear.has_begun)

    def _line(self, line: bytes) -> None:
        if self._ear is not None:
            self._ear.line(line)

    def _message(self, line: bytes) -> None:
        if self._ear is not None:
            self._ear.message(line)


def _death(ended: Exit) -> str:
    if ended.code == 0:
        return "its process ended with exit code 0 before the function returned (os._exit?)"
    return f"its process {ended}"


def _pipe(resources: ExitStack) -> tuple[FileIO, FileIO]:
    read, write = os.pipe()
    return resources.enter_context(FileIO(read, "rb")), resources.enter_context(FileIO(write, "wb"))
