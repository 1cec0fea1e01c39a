"""How a piece gets from a feeder into a node: on a shelf if the node can reach it, through the wire if not."""

from __future__ import annotations

import logging

from hopyard.errors import PeerGone
from hopyard.feed.pieces import TAG_BYTES, Piece
from hopyard.feed.shelf import OpenShelf, Place, Shelf, ShelfName
from hopyard.wire import Tagged, WireClient

LOG = logging.getLogger(__name__)
REACH = "reach"
NO_SHELF = ""


class Giver:
    """The feeder's side.

    Args:
        client: The way to the node.
        shelf: What might be shared with it.
    """

    def __init__(self, client: WireClient, shelf: Shelf | None) -> None:
        self._shelf = shelf if shelf is not None and _is_reached(client, shelf) else None

    @property
    def shelf(self) -> str:
        """The name of the shelf, if one is shared with the node."""
        return NO_SHELF if self._shelf is None else str(self._shelf.name)

    def item(self, piece: Piece) -> Tagged:
        """Returns what goes through the wire for a piece: the rows, unless there is room for them on the shelf."""
        place = None if self._shelf is None else self._shelf.put(piece.batch)
        if place is None:
            return Tagged(piece.batch, piece.tag)
        return Tagged(piece.batch.slice(0, 0), piece.tag + place.to_bytes())


class Taker:
    """The node's side.

    Args:
        shelf: The name of the feeder's shelf, if there is one.

    Raises:
        PeerGone: It is gone, and so is the feeder.
    """

    def __init__(self, shelf: str) -> None:
        try:
            self._shelf = None if shelf == NO_SHELF else OpenShelf(ShelfName.of(shelf))
        except OSError as error:
            raise PeerGone("the feeder", "opening its shelf", str(error)) from error

    def piece(self, item: Tagged) -> Piece:
        """Returns the piece that something stands for that came through the wire."""
        tag, place = item.tag[:TAG_BYTES], item.tag[TAG_BYTES:]
        if self._shelf is None or not place:
            return Piece.of(item.batch, tag)
        return Piece.of(self._shelf.batch(Place.of(place)), tag)


def can_reach(shelf: str) -> bool:
    """Tells whether this process can read from a shelf."""
    try:
        OpenShelf(ShelfName.of(shelf))
    except OSError as error:
        LOG.info("rows of this host come through the wire, since its memory cannot be shared: %s", error)
        return False
    return True


def _is_reached(client: WireClient, shelf: Shelf) -> bool:
    return bool(client.call(REACH, {"shelf": str(shelf.name)})["is_reached"])
