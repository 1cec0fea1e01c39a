"""Rows of several pieces in a random order, as pieces again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from hopyard.feed.pieces import is_pickled, pack, unpack


def generator_of(*, seed: int, epoch: int) -> np.random.Generator:
    """Returns the source of randomness of one epoch, which is independent of those of other epochs."""
    # numpy takes no negative numbers, and users do
    return np.random.default_rng([seed % (1 << 64), epoch])


def mixed(
    pieces: Sequence[pa.RecordBatch], generator: np.random.Generator
) -> Iterator[tuple[pa.RecordBatch, int]]:
    """Yields the rows of pieces in a random order, in as many pieces of equal length, with their numbers of rows.

    Args:
        pieces: At least one; all of one schema.
        generator: Decides on the order.
    """
    if is_pickled(pieces[0].schema):
        return _mixed_objects(pieces, generator)
    return _mixed_columns(pieces, generator)


def _mixed_columns(
    pieces: Sequence[pa.RecordBatch], generator: np.random.Generator
) -> Iterator[tuple[pa.RecordBatch, int]]:
    # one copy here: taking rows out of many chunks costs a search for each row
    (joined,) = pa.Table.from_batches(pieces).combine_chunks().to_batches()
    for chosen in np.array_split(generator.permutation(joined.num_rows), len(pieces)):
        yield joined.take(pa.array(chosen)), len(chosen)


def _mixed_objects(
    pieces: Sequence[pa.RecordBatch], generator: np.random.Generator
) -> Iterator[tuple[pa.RecordBatch, int]]:
    rows = [row for piece in pieces for row in unpack(piece)]
    for chosen in np.array_split(generator.permutation(len(rows)), len(pieces)):
        yield pack([rows[place] for place in chosen]), len(chosen)
