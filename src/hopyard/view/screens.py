"""Where something is shown: a terminal, a notebook, or lines in a file."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import Any, Protocol

from rich.console import Console
from rich.file_proxy import FileProxy

from hopyard.view.frame import Frame, clock
from hopyard.view.live_display import process_display
from hopyard.view.place import is_terminal, notebook_cell, notebook_display

SUMMARY_SECONDS = 10
WIDTH, HEIGHT = 115, 100  # of a table in a notebook, where one can scroll
HTML = '<pre style="margin:4px 8px;line-height:normal;white-space:pre;overflow-x:auto;font-family:monospace">{code}</pre>'
NOTHING: dict[str, str] = {}  # an empty text would have the height of a line


class Screen(Protocol):
    """A place where pictures are shown, each in place of the one before."""

    def show(self, picture: Frame) -> None:
        """Shows a picture."""

    def close(self, *, keep: bool) -> None:
        """Ends the showing, and leaves or removes what was shown last."""


def screen_for(*, progress: bool | None, earlier: Screen | None = None) -> Screen | None:
    """Returns where to show something; None if that is not wanted, or by default if nobody would look.

    Args:
        progress: Whether it is wanted; None for terminals and notebooks only.
        earlier: Where it was shown before: lines go on where they were, and so does the table of a cell.
    """
    if progress is False:
        return None
    display = notebook_display()
    if display is not None:
        cell = notebook_cell()
        if isinstance(earlier, NotebookScreen) and earlier.cell == cell:
            return earlier
        return NotebookScreen(display, cell)
    lines = earlier if isinstance(earlier, LineScreen) else LineScreen()
    if not is_terminal(sys.stderr):
        return lines if progress else None
    is_free = Console(stderr=True).is_interactive and not has_foreign_display()
    return process_display().open() if is_free else lines


def has_foreign_display() -> bool:
    """Tells whether the program shows something live by itself, with rich: the terminal has room for one."""
    return isinstance(sys.stdout, FileProxy) or isinstance(sys.stderr, FileProxy)


class NotebookScreen:
    """A table below the cell, updated in place; for rich's own live display one would have to install widgets.

    Attributes:
        cell: The number of the cell.
    """

    def __init__(self, display: Callable[..., Any], cell: int) -> None:
        """Prepares the screen.

        Args:
            display: IPython's function of that name.
            cell: The number of the cell.
        """
        self.cell = cell
        self._display = display
        self._handle: Any = None

    def show(self, picture: Frame) -> None:
        """Updates the table."""
        shown = _bundle(picture)
        if self._handle is None:
            self._handle = self._display(shown, raw=True, display_id=True)
        else:
            self._handle.update(shown, raw=True)

    def close(self, *, keep: bool) -> None:
        """Empties the output unless it is to be kept."""
        if not keep and self._handle is not None:
            self._handle.update(NOTHING, raw=True)


def _bundle(picture: Frame) -> dict[str, str]:
    """Returns a picture for a notebook, without the empty lines that JupyterLab puts around preformatted text."""
    console = Console(file=io.StringIO(), force_jupyter=False, record=True, width=WIDTH, height=HEIGHT)
    console.print(picture.table())
    html = console.export_html(inline_styles=True, clear=False, code_format=HTML)
    return {"text/html": html, "text/plain": console.export_text()}


class LineScreen:
    """Lines on standard error: one for whatever is new, and now and then one on how it is going."""

    def __init__(self) -> None:
        self._earlier: Frame | None = None
        self._summary_due = SUMMARY_SECONDS

    def show(self, picture: Frame) -> None:
        """Writes what is new."""
        lines = [*picture.news(self._earlier)]
        self._earlier = picture
        if picture.seconds >= self._summary_due:
            self._summary_due = picture.seconds + SUMMARY_SECONDS
            lines.append(picture.summary())
        head = f"{picture.title} {clock(picture.seconds)}"
        sys.stderr.write("".join(f"{head} {line}\n" for line in filter(None, lines)))
        sys.stderr.flush()

    def close(self, *, keep: bool) -> None:
        """Does nothing: lines stay."""
