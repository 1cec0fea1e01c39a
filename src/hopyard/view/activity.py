"""What is being done: a line at the bottom of the terminal while it is done, with a bar if it has an end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.console import ConsoleRenderable

BAR_WIDTH = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivityLine:
    """An activity at one moment.

    Attributes:
        title: What is being done.
        seconds: For how long.
        done: How many parts of it are done.
        total: How many there are; None if nobody counts.
    """

    title: str
    seconds: int
    done: int = 0
    total: int | None = None

    def table(self) -> ConsoleRenderable:
        """Returns the line."""
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        from hopyard.view.frame import clock

        grid = Table.grid(padding=(0, 1, 0, 0))
        elapsed = Text(clock(self.seconds), style="dim")
        if self.total is None:
            grid.add_row(self.title, elapsed)
        else:
            bar = ProgressBar(total=self.total, completed=self.done, width=BAR_WIDTH)
            grid.add_row(self.title, bar, f"{self.done}/{self.total}", elapsed)
        return grid

    def news(self, _earlier: Self | None) -> Sequence[str]:
        """Returns nothing: where there are only lines, the command's own lines are enough."""
        return ()

    def summary(self) -> str:
        """Returns nothing, as above."""
        return ""


class Activity:
    """Something that is being done."""

    def __init__(
        self, title: str, total: int | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._title = title
        self._total = total
        self._clock = clock
        self._began = clock()
        self._done = 0

    def reach(self, done: int) -> None:
        """Records how many parts are done."""
        self._done = done

    def look(self, *, is_over: bool) -> ActivityLine:  # noqa: ARG002  it is gone when it is over
        """Returns how far it is."""
        seconds = int(self._clock() - self._began)
        return ActivityLine(title=self._title, seconds=seconds, done=self._done, total=self._total)


@contextmanager
def showing(activity: Activity) -> Iterator[None]:
    """Shows an activity on a terminal while open, and nothing of it afterwards."""
    from hopyard.view.presenter import LiveView

    presenter = LiveView("activity", progress=None)
    presenter.open(activity.look)
    try:
        yield
    finally:
        presenter.close(is_over=False)
