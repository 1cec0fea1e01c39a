"""How a piece gets from a feeder into a node: on a shelf if the node can reach it, through the wire if not."""

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
NO_SHELF = ""
RECORD_BYTES = TAG_BYTES + Place.FORM.size


class BufferSender:
    """The feeder's side.

    Args:
        client: The way to the node.
        shelf: What might be shared with it.
    """

    def __init__(self, client: WireClient, shelf: SharedBuffer | None) -> None:
        self._shelf = shelf if shelf is not None and _is_reached(client, shelf) else None

    @property
    def shelf(self) -> str:
        """The name of the shelf, if one is shared with the node."""
        return NO_SHELF if self._shelf is None else str(self._shelf.name)

    @property
    def has_shelf(self) -> bool:
        """Whether one is."""
        return self._shelf is not None

    def items(self, pieces: Iterable[Piece]) -> Iterator[Tagged]:
        """Yields what goes through the wire for some pieces: where they lie, or the rows of those that lie nowhere."""
        records = b""
        for piece in pieces:
            if self._shelf is not None and piece.place is not None:
                self._shelf.hand_over(piece.place)
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
        shelf: The name of the feeder's shelf, if there is one.

    Raises:
        PeerGone: It is gone, and so is the feeder.
    """

    def __init__(self, shelf: str) -> None:
        try:
            self._shelf = None if shelf == NO_SHELF else OpenBuffer(BufferName.of(shelf))
        except OSError as error:
            raise PeerGone("the feeder", "opening its shelf", str(error)) from error

    def pieces(self, item: Tagged) -> Iterator[Piece]:
        """Yields the pieces that something stands for that came through the wire."""
        if self._shelf is None or len(item.tag) == TAG_BYTES:
            yield Piece.of(item.batch, item.tag)
            return
        for start in range(0, len(item.tag), RECORD_BYTES):
            record = item.tag[start : start + RECORD_BYTES]
            yield Piece.of(self._shelf.batch(Place.of(record[TAG_BYTES:])), record[:TAG_BYTES])


def shelved(piece: Piece, shelf: SharedBuffer | None) -> Piece:
    """Returns a piece on the shelf, if there is one and it has room."""
    laid = None if shelf is None else shelf.put(piece.batch)
    return piece if laid is None else replace(piece, batch=laid.batch, place=laid.place)


def can_reach(shelf: str) -> bool:
    """Tells whether this process can read from a shelf."""
    try:
        OpenBuffer(BufferName.of(shelf))
    except OSError as error:
        LOG.info("rows of this host come through the wire, since its memory cannot be shared: %s", error)
        return False
    return True


def _is_reached(client: WireClient, shelf: SharedBuffer) -> bool:
    return bool(client.call(REACH, {"shelf": str(shelf.name)})["is_reached"])
