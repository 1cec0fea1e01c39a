"""Calls to the feed of a node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hopyard.errors import PeerGone
from hopyard.wire import Endpoint, Json, WireClient

CALL_SECONDS = 30.0
MESSAGE_BYTES = 64 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedNode:
    """A node that can be fed."""

    rank: int
    host: str
    endpoint: Endpoint


def ask_node(
    node: FeedNode, method: str, message: Mapping[str, Json], *, timeout: float = CALL_SECONDS
) -> dict[str, Any] | None:
    """Returns a node's answer; None if it has ended, and if it failed the driver will say so."""
    try:
        with WireClient(node.endpoint, timeout=timeout, max_message_bytes=MESSAGE_BYTES) as client:
            return client.call(method, message)
    except PeerGone:
        return None
