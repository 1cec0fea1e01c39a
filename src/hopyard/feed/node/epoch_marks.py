"""Where the epochs begin and end in an inbox, and which of them the function has read."""

from __future__ import annotations

from collections.abc import Iterable

from hopyard.feed.node.level import EpochEnd
from hopyard.feed.pieces import Piece

NO_EPOCH = (-1, -1)
MOST_LEFT_OUT = 100


class EpochMarks:
    """The epochs that come to a node; called with the lock of its inbox held, except for `ask`, which who reads calls.

    An epoch counts as read when the function asks for more after its end, or ends its feed there: only then has it done
    what it does after an epoch, such as saving what was learnt.

    Args:
        first_epoch: The number of the first epoch that comes; None if that is known only when it comes.
    """

    def __init__(self, first_epoch: int | None = None) -> None:
        self.first_epoch = first_epoch
        self.left = 0
        self.rows = 0
        self.read = NO_EPOCH
        self.left_out: tuple[tuple[int, int, int], ...] = ()
        self._drawn = NO_EPOCH
        self._feed: int | None = None
        self._ended: tuple[int, int] | None = None

    def begin(self, feed: int, epoch: int, left: int) -> EpochEnd | None:
        """Records that an epoch of a feed begins; returns a mark to put before it if rows of a stream came before."""
        is_after_stream = self._feed != feed and self.rows
        if self._feed is None:
            self.first_epoch = epoch
        self._feed = feed
        self.left = left
        return self._mark(NO_EPOCH) if is_after_stream else None

    def end(self, feed: int, epoch: int) -> EpochEnd | None:
        """Returns the mark to put behind an epoch whose rows have all come; None if it is there already."""
        if self._ended == (feed, epoch):
            return None
        self._ended = (feed, epoch)
        self.left = max(0, self.left - 1)
        return self._mark((feed, epoch))

    def draw(self, mark: EpochEnd) -> None:
        """Records that the end of an epoch was drawn."""
        self._drawn = max(self._drawn, mark.number)

    def leave_out(self, number: tuple[int, int], rows: int) -> None:
        """Records rows of an epoch that were not used; of very many epochs, of those of the last ones."""
        self.left_out = (*self.left_out, (*number, rows))[-MOST_LEFT_OUT:]

    def ask(self) -> bool:
        """Records that the function asks for more; returns whether it has read another epoch."""
        is_news = self._drawn > self.read
        self.read = max(self.read, self._drawn)
        return is_news

    def stop(self, unread: Iterable[Piece | EpochEnd]) -> None:
        """Records that the function ends its feed, and what it leaves."""
        for found in unread:
            if isinstance(found, Piece):
                break
            self.draw(found)
        self.ask()

    def _mark(self, number: tuple[int, int]) -> EpochEnd:
        rows, self.rows = self.rows, 0
        return EpochEnd(rows=rows, number=number)


def rows_until_end(found: Iterable[Piece | EpochEnd]) -> tuple[int, bool]:
    """Returns how many rows come before the first end of an epoch, and whether there is one."""
    rows = 0
    for piece in found:
        if isinstance(piece, EpochEnd):
            return rows, True
        rows += piece.rows
    return rows, False
