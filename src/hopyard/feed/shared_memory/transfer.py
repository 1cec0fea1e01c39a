"""How a piece gets from a feeder into a node: in a buffer if the node can reach it, through the wire if not."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import replace

from hopyard.errors import PeerGone
from hopyard.feed.pieces import TAG_BYTES, Piece
from hopyard.feed.shared_memory.buffer import BufferName, OpenBuffer, Place, SharedBuffer
from hopyard.wire import Tagged, WireClient

LOG = logging.getLogger(__name__)
REACH = "reach"
NO_BUFFER = ""
RECORD_BYTES = TAG_BYTES + Place.FORM.size


class BufferSender:
    """The feeder's side.

    Args:
        client: The way to the node.
        buffer: What might be shared with it.
    """

    def __init__(self, client: WireClient, buffer: SharedBuffer | None) -> None:
        self._buffer = buffer if buffer is not None and _is_reached(client, buffer) else None

    @property
    def buffer(self) -> str:
        """The name of the buffer, if one is shared with the node."""
        return NO_BUFFER if self._buffer is None else str(self._buffer.name)

    @property
    def has_buffer(self) -> bool:
        """Whether a buffer is shared with the node."""
        return self._buffer is not None

    def items(self, pieces: Iterable[Piece]) -> Iterator[Tagged]:
        """Yields what goes through the wire for some pieces: where they lie, or the rows of those that lie nowhere."""
        records = b""
        for piece in pieces:
            if self._buffer is not None and piece.place is not None:
                self._buffer.hand_over(piece.place)
                nothing = piece.batch.slice(0, 0)
                records += piece.tag + piece.place.to_bytes()
                continue
            if records:
                yield Tagged(nothing, records)
                records = b""
            yield Tagged(piece.batch, piece.tag)
        if records:
            yield Tagged(nothing, records)


class BufferReceiver:
    """The node's side.

    Args:
        buffer: The name of the feeder's buffer, if there is one.

    Raises:
        PeerGone: It is gone, and so is the feeder.
    """

    def __init__(self, buffer: str) -> None:
        try:
            self._buffer = None if buffer == NO_BUFFER else OpenBuffer(BufferName.of(buffer))
        except OSError as error:
            raise PeerGone("the feeder", "opening its buffer", str(error)) from error

    def pieces(self, item: Tagged) -> Iterator[Piece]:
        """Yields the pieces that something stands for that came through the wire."""
        if self._buffer is None or len(item.tag) == TAG_BYTES:
            yield Piece.of(item.batch, item.tag)
            return
        for start in range(0, len(item.tag), RECORD_BYTES):
            record = item.tag[start : start + RECORD_BYTES]
            yield Piece.of(self._buffer.batch(Place.of(record[TAG_BYTES:])), record[:TAG_BYTES])


def placed(piece: Piece, buffer: SharedBuffer | None) -> Piece:
    """Returns a piece in the buffer, if there is one and it has room."""
    laid = None if buffer is None else buffer.put(piece.batch)
    return piece if laid is None else replace(piece, batch=laid.batch, place=laid.place)


def can_reach(buffer: str) -> bool:
    """Tells whether this process can read from a buffer."""
    try:
        OpenBuffer(BufferName.of(buffer))
    except OSError as error:
        LOG.info("rows of this host come through the wire, since its memory cannot be shared: %s", error)
        return False
    return True


def _is_reached(client: WireClient, buffer: SharedBuffer) -> bool:
    return bool(client.call(REACH, {"buffer": str(buffer.name)})["is_reached"])
