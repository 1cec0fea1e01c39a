"""Looks at a run again and again while somebody waits for it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Self

from hopyard.errors import StillRunning
from hopyard.training.view_snapshot import Snapshot

if TYPE_CHECKING:
    from hopyard.training.view_screen import Screen

LOOK_SECONDS = 0.5  # with 20 nodes a redraw takes about 10 ms of a core


class Watch:
    """A thread that shows a run on a screen, while its context is open; closes the screen at the end."""

    def __init__(
        self, look: Callable[[], Snapshot], screen: Screen, on_failure: Callable[[Exception], None]
    ) -> None:
        """Prepares a watch.

        Args:
            look: Returns how the run is doing.
            screen: Where to show it.
            on_failure: Hears why nothing can be shown any more.
        """
        self._look = look
        self._screen = screen
        self._on_failure = on_failure
        self._shown: Snapshot | None = None
        self._is_open = True
        self._left = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="hopyard-view", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._left.set()
        self._thread.join()
        if self._is_open:
            self._show(is_over=error is None)
        if self._is_open:
            self._close(keep=not isinstance(error, StillRunning))

    def _loop(self) -> None:
        self._show()
        while self._is_open and not self._left.wait(LOOK_SECONDS):
            self._show()

    def _show(self, *, is_over: bool = False) -> None:
        try:
            snapshot = replace(self._look(), is_over=is_over)
            if snapshot != self._shown:
                self._screen.show(snapshot)
                self._shown = snapshot
        except Exception as error:  # noqa: BLE001  whatever breaks the view must not end the run
            self._close(keep=True, because=error)

    def _close(self, *, keep: bool, because: Exception | None = None) -> None:
        self._is_open = False
        try:
            self._screen.close(keep=keep)
        except Exception as error:  # noqa: BLE001  as above; a terminal that is gone cannot be tidied up
            because = because or error
        if because is not None:
            self._on_failure(because)
