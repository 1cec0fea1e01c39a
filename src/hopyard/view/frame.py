"""What the screens show: pictures of something that goes on, one after the other, and texts that may stand in them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol, Self

if TYPE_CHECKING:
    from rich.console import ConsoleRenderable

_JOINERS = "\u200c\u200d"  # between the letters of some scripts, and the parts of an emoji
MOST_ROWS = 20  # of what is told of one by one


class Frame(Protocol):
    """Something that goes on, at one moment; two pictures that look the same are equal."""

    @property
    def title(self) -> str:
        """What it is called."""

    @property
    def seconds(self) -> int:
        """How long it has been going on."""

    def table(self) -> ConsoleRenderable:
        """Returns what rich draws on a terminal or in a notebook."""

    def news(self, earlier: Self | None) -> Sequence[str]:
        """Returns a line for whatever is worth one since an earlier picture, if there is one."""

    def summary(self) -> str:
        """Returns a line on how it is doing; nothing if there is nothing to say."""


class TakeFrame(Protocol):
    """Takes pictures."""

    def __call__(self, *, is_over: bool) -> Frame:
        """Returns how it is doing now, or how it has ended."""


def printable(text: str) -> str:
    """Returns a text on one line; what would move a terminal's cursor or change its colours is spelled out."""
    words = " ".join(text.split())
    return words if words.isprintable() else "".join(map(_spelled, words))


def printable_lines(text: str) -> str:
    """Returns a text of several lines as `printable` does, with its line ends and tabs."""
    return "".join(each if each in "\n\t" else _spelled(each) for each in text)


def _spelled(character: str) -> str:
    is_harmless = character.isprintable() or character in _JOINERS
    return character if is_harmless else character.encode("unicode_escape").decode()


def clock(seconds: int) -> str:
    """Returns some time as a clock shows it."""
    return str(timedelta(seconds=seconds))
