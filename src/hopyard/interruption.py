"""What a user reads who has pressed Ctrl-C, or the stop button of a notebook: what was stopped, and what is kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial


def explain(interrupt: KeyboardInterrupt, note: str) -> None:
    """Lets an interrupt end with a note, once: Python prints it last, and a notebook shows nothing else."""
    if note in _notes(interrupt):
        return
    interrupt.add_note(note)
    # IPython asks an exception for this instead of its frames, which are those in which we waited
    interrupt._render_traceback_ = partial(_shown, interrupt)  # type: ignore[attr-defined]


@contextmanager
def keeping_notes() -> Iterator[None]:
    """Lets a second Ctrl-C, which comes while the first one is dealt with, say what that says."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        for note in _earlier_notes(interrupt):
            explain(interrupt, note)
        raise interrupt from None


def _earlier_notes(interrupt: KeyboardInterrupt) -> Iterator[str]:
    earlier = interrupt.__context__
    while earlier is not None:
        if isinstance(earlier, KeyboardInterrupt):
            yield from _notes(earlier)
        earlier = earlier.__context__


def _notes(interrupt: KeyboardInterrupt) -> list[str]:
    return list(getattr(interrupt, "__notes__", ()))


def _shown(interrupt: KeyboardInterrupt) -> list[str]:
    return [type(interrupt).__name__, *_notes(interrupt)]
