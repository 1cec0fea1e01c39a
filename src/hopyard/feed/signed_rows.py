"""Pickled rows travel signed, since to load a pickle is to run it: the token of the feed alone must not be enough."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Self

import pyarrow as pa

from hopyard.errors import RowsRefused
from hopyard.feed.pieces import PICKLED_SCHEMA, Piece, is_pickled, pickled_batch

KEY_BYTES = 32
DIGEST = "sha256"
SIGNED_SCHEMA = PICKLED_SCHEMA.append(pa.field("signature", pa.binary(32), nullable=False))


@dataclass(frozen=True, slots=True)
class RowSigner:
    """Signs the pickled rows and results of one run, and refuses those that were signed with no or another key.

    The key travels inside the pickles that Spark brings to its tasks and to the nodes: in no environment variable, and
    never over the wire.

    Attributes:
        key: What is known to the driver, its Spark tasks and its nodes alone.
    """

    key: bytes = field(repr=False)

    @classmethod
    def new(cls) -> Self:
        """Returns one with a key of its own."""
        return cls(secrets.token_bytes(KEY_BYTES))

    def signed(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Returns a batch as it travels: pickled objects with their signature, columns as they are."""
        if not is_pickled(batch.schema):
            return batch
        signature = pa.array([self._signature(batch.column(0)[0].as_buffer())], pa.binary(32))
        return pa.record_batch([batch.column(0), signature], schema=SIGNED_SCHEMA)

    def opened(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Returns a batch that has travelled, without its signature; pickled objects may be loaded then.

        Raises:
            RowsRefused: They do not have the signature of this key.
        """
        if not is_pickled(batch.schema):
            return batch
        if not batch.schema.equals(SIGNED_SCHEMA) or batch.num_rows != 1:
            raise RowsRefused("pickled rows have no signature")
        batch.validate(full=True)
        # a copy: what lies in memory that is shared with the sender could still change after it was looked at
        data, signature = batch.column(0)[0].as_py(), batch.column(1)[0].as_py()
        if not hmac.compare_digest(self._signature(data), signature):
            raise RowsRefused("pickled rows have the signature of another key")
        return pickled_batch(data)

    def _signature(self, data: bytes | pa.Buffer) -> bytes:
        return hmac.digest(self.key, data, DIGEST)


def signed_pieces(signer: RowSigner, pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Yields pieces as they travel; see `RowSigner.signed`."""
    for piece in pieces:
        yield replace(piece, batch=signer.signed(piece.batch))
