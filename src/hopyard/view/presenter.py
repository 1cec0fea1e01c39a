"""Shows something where it was started, for as long as somebody is to see it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from hopyard.view.frame import TakeFrame
from hopyard.view.refresh import RefreshThread

if TYPE_CHECKING:
    from hopyard.view.screens import Screen

LOG = logging.getLogger(__name__)


class LiveView:
    """Opens and closes screens, one at a time, and stands in nobody's way: if one breaks, the log says so, once.

    Args:
        what: What is shown, in a word.
        progress: Whether it is shown; None for terminals and notebooks only.
    """

    def __init__(self, what: str, *, progress: bool | None) -> None:
        self._what = what
        self._progress = progress
        self._last_screen: Screen | None = None
        self._watch: RefreshThread | None = None
        self._warned = False

    def open(self, look: TakeFrame) -> None:
        """Begins to show what a function sees, unless something is shown already, or nothing is to be."""
        if self._watch is not None or self._progress is False:
            return
        from hopyard.view.screens import screen_for  # rich takes a while to import

        try:
            screen = screen_for(progress=self._progress, earlier=self._last_screen)
        except Exception as error:  # noqa: BLE001  whatever there is instead of a terminal, what is shown goes on
            self.warn(error)
            return
        if screen is not None:
            self._last_screen = screen
            self._watch = RefreshThread(look, screen, self.warn)
            self._watch.start()

    def close(self, *, is_over: bool) -> None:
        """Returns when nothing is shown any more.

        Args:
            is_over: Whether what was shown has ended; the last picture then stays, and is removed otherwise.
        """
        watch, self._watch = self._watch, None
        if watch is not None:
            watch.stop(is_over=is_over)

    def warn(self, error: Exception) -> None:
        """Says in the log why nothing can be shown any more, if that was not said."""
        if not self._warned:
            self._warned = True
            name = type(error).__name__
            LOG.warning("the %s goes on, but is not shown here any more: %s: %s", self._what, name, error)
