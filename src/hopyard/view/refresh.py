"""Looks at something again and again, and shows it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from hopyard.protocol.node_status import NodeStatus
from hopyard.view.frame import Frame, TakeFrame

if TYPE_CHECKING:
    from hopyard.view.screens import Screen

POLL_SECONDS = 0.5  # with 20 nodes a redraw takes about 10 ms of a core


class Watched(Protocol):
    """A run that can be shown."""

    @property
    def run_id(self) -> str:
        """What it is called."""

    def nodes(self) -> tuple[NodeStatus, ...]:
        """Returns how its nodes are doing."""

    def has_ended(self, within_seconds: float = 0.0) -> bool:
        """Tells whether it has ended, or ends within some seconds."""


class RefreshThread:
    """A thread that shows pictures on a screen until it is stopped, and closes the screen whatever happens.

    It is no daemon: if the program ends, or a second Ctrl-C comes while the first one is being dealt with, the thread
    still gives the terminal back.
    """

    def __init__(self, look: TakeFrame, screen: Screen, on_failure: Callable[[Exception], None]) -> None:
        """Prepares a watch.

        Args:
            look: Takes the pictures.
            screen: Where to show them.
            on_failure: Hears why nothing can be shown any more.
        """
        self._look = look
        self._screen = screen
        self._on_failure = on_failure
        self._shown: Frame | None = None
        self._is_open = True
        self._is_over = False
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="hopyard-view", daemon=False)

    def start(self) -> None:
        """Begins to show."""
        self._thread.start()

    def stop(self, *, is_over: bool) -> None:
        """Returns when the screen is closed.

        Args:
            is_over: Whether what was shown has ended; the last picture then stays, and is removed otherwise.
        """
        self._is_over = is_over
        self._stopped.set()
        self._thread.join()

    def _loop(self) -> None:
        self._show()
        while self._is_open and not self._stopped.wait(POLL_SECONDS) and threading.main_thread().is_alive():
            self._show()
        if self._is_open:
            self._show(is_over=self._is_over)
        if self._is_open:
            self._close(keep=self._is_over or not self._stopped.is_set())

    def _show(self, *, is_over: bool = False) -> None:
        try:
            picture = self._look(is_over=is_over)
            if picture != self._shown:
                self._screen.show(picture)
                self._shown = picture
        except Exception as error:  # noqa: BLE001  whatever breaks the view must not end what it shows
            self._close(keep=True, because=error)

    def _close(self, *, keep: bool, because: Exception | None = None) -> None:
        self._is_open = False
        try:
            self._screen.close(keep=keep)
        except Exception as error:  # noqa: BLE001  as above; a terminal that is gone cannot be tidied up
            because = because or error
        if because is not None:
            self._on_failure(because)
