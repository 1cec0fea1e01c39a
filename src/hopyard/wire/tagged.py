"""Record batches with a few bytes beside each."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow
from pyarrow import flight


class Tagged(NamedTuple):
    """A record batch and what travels beside it."""

    batch: pyarrow.RecordBatch
    tag: bytes = b""


def write_item(writer: flight.FlightStreamWriter, item: pyarrow.RecordBatch | Tagged) -> None:
    """Writes a batch, with its tag if it has one."""
    if isinstance(item, Tagged):
        writer.write_with_metadata(item.batch, item.tag)
    else:
        writer.write_batch(item)


def tagged_item(chunk: flight.FlightStreamChunk) -> Tagged:
    """Returns the batch of a chunk, with its tag."""
    tag = b"" if chunk.app_metadata is None else chunk.app_metadata.to_pybytes()
    return Tagged(chunk.data, tag)
