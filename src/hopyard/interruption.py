"""What a user reads who has pressed Ctrl-C, or the stop button of a notebook: what was stopped, and what is kept."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from types import TracebackType


def explain(interrupt: KeyboardInterrupt, note: str) -> None:
    """Lets an interrupt end with a note, once: Python prints it last, and a notebook shows nothing else."""
    if note in _notes(interrupt):
        return
    interrupt.add_note(note)
    # IPython asks an exception for this instead of its frames, which are those in which we waited
    interrupt._render_traceback_ = partial(_shown, interrupt)  # type: ignore[attr-defined]
    if sys.excepthook is sys.__excepthook__:
        sys.excepthook = _print_notes


@contextmanager
def keeping_notes() -> Iterator[None]:
    """Lets a second Ctrl-C, which comes while the first one is dealt with, say what that says."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        for note in _earlier_notes(interrupt):
            explain(interrupt, note)
        raise interrupt from None


def _print_notes(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    """Prints what Python prints of an exception that ends the program; of an interrupt with notes only these.

    Where it was matters only if that is the user's code, in a function that runs in this process.
    """
    if hasattr(error, "_render_traceback_") and _notes(error) and _is_ours(traceback):
        sys.stderr.write("".join(f"{note}\n" for note in _notes(error)))
    else:
        sys.__excepthook__(kind, error, traceback)


def _is_ours(traceback: TracebackType | None) -> bool:
    """Tells whether a traceback ends in this package."""
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    module = "" if traceback is None else str(traceback.tb_frame.f_globals.get("__name__"))
    return module.partition(".")[0] == __name__.partition(".")[0]


def _earlier_notes(interrupt: KeyboardInterrupt) -> Iterator[str]:
    earlier = interrupt.__context__
    while earlier is not None:
        if isinstance(earlier, KeyboardInterrupt):
            yield from _notes(earlier)
        earlier = earlier.__context__


def _notes(interrupt: BaseException) -> list[str]:
    return list(getattr(interrupt, "__notes__", ()))


def _shown(interrupt: KeyboardInterrupt) -> list[str]:
    return [type(interrupt).__name__, *_notes(interrupt)]
