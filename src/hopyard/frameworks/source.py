"""What a framework's dataset reads: rows in epochs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

if TYPE_CHECKING:
    import pyarrow as pa

# As a training function sees them: with columns, or those of an RDD.
Rows: TypeAlias = "pa.RecordBatch | list[object]"


class EpochSource(Protocol):
    """Rows in epochs."""

    def note_error(self, error: Exception) -> None:
        """Takes note of an error in reading them, of which a framework makes one of its own."""

    def epoch_batches(self, rows: int) -> Iterator[Rows]:
        """Yields the batches of an epoch, so many rows at a time; the last one may have fewer."""


@runtime_checkable
class FedSource(EpochSource, Protocol):
    """Rows in epochs that have to be waited for, and come once."""

    def epoch_batch(self, rows: int) -> Rows:
        """Returns the next batch: none after the last one of an epoch, then the first one of the next."""

    def note_joined(self, *, is_joined: bool) -> None:
        """Takes note of whether something joins the nodes to train one model, as a framework begins to read."""

    def check_new_dataset(self, asked_by: str) -> None:
        """Refuses a dataset that would get the rows that another one lacks."""
