"""What a framework's dataset reads: rows in epochs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

if TYPE_CHECKING:
    import pyarrow as pa

# As a training function sees them: with columns, or those of an RDD.
Rows: TypeAlias = "pa.RecordBatch | list[object]"


class EpochSource(Protocol):
    """Rows in epochs."""

    def note_error(self, error: Exception) -> None:
        """Records an error in reading them, of which a framework makes one of its own."""

    def note_nans(self, nulls: Mapping[str, int]) -> None:
        """Records nulls that were read as NaN, by column."""

    def epoch_batches(self, rows: int) -> Iterator[Rows]:
        """Yields the batches of an epoch, so many rows at a time; the last one may have fewer."""


class Loop(Protocol):
    """A loop over one epoch."""

    def batch(self) -> Rows:
        """Returns the next batch; none after the last."""

    def end(self) -> int:
        """Passes the end of the epoch, once whoever loops asks for more; returns how many epochs have been read."""


@runtime_checkable
class FedSource(EpochSource, Protocol):
    """Rows in epochs that have to be waited for, and come once."""

    def begin_loop(self, rows: int) -> Loop:
        """Begins a loop over an epoch at its first row, in batches of so many rows."""

    def note_joined(self, *, is_joined: bool) -> None:
        """Records whether something joins the nodes to train one model, as a framework begins to read."""
