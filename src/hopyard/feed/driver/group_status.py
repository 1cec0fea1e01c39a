"""The nodes of a run at one moment."""

from __future__ import annotations

from dataclasses import dataclass

from hopyard.protocol.node_status import NodeStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupStatus:
    """How the nodes of a run are doing, and which nodes these are.

    Attributes:
        attempt: How often they were started again.
        nodes: Each of them, in rank order.
        before: The nodes of the attempt before, as they ended.
    """

    attempt: int = 0
    nodes: tuple[NodeStatus, ...] = ()
    before: tuple[NodeStatus, ...] = ()


def feed_token(secret: str, attempt: int) -> str:
    """Returns what those who feed the nodes of an attempt must show; nothing if the run is not fed.

    It differs from one attempt to the next: a Spark task that has not heard yet of the end of the nodes that it feeds
    is turned away by others that listen where those did.
    """
    return f"{secret}.{attempt}" if secret else ""
