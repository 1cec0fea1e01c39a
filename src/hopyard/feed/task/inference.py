"""Gets results for the rows of a partition: what a Spark task does for inference."""

from __future__ import annotations

import itertools
import socket
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import pyarrow as pa

from hopyard.errors import BadArguments, NotFed, PeerGone
from hopyard.feed.node.service import REFUSE, infer_stream
from hopyard.feed.pieces import PIECE_BYTES, Piece
from hopyard.feed.remote import CALL_SECONDS, FeedNode, ask_node
from hopyard.feed.shared_memory.pool import BufferPool
from hopyard.feed.shared_memory.transfer import BufferSender, placed
from hopyard.feed.signed_rows import RowSigner, signed_pieces
from hopyard.feed.task.node_sender import STREAM_SECONDS
from hopyard.wire import WireClient

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class InferencePlan:
    """What a task has to know that gets results; travels with the Spark tasks.

    Attributes:
        nodes: Those that may be asked.
        seconds: How long a node may take for the next results.
        signer: Signs rows that are pickled, and opens results that are.
        piece_bytes: Size of the pieces.
    """

    nodes: tuple[FeedNode, ...]
    seconds: float
    signer: RowSigner
    piece_bytes: int = PIECE_BYTES

    def node(self, partition: int, host: str) -> FeedNode:
        """Returns the node for a partition: one on the same host if there is one; partitions take turns."""
        near = [node for node in self.nodes if node.host == host] or self.nodes
        return near[partition % len(near)]


def ask(
    plan: InferencePlan,
    partition: int,
    pieces: Iterable[Piece],
    *,
    stage: int,
    buffers: BufferPool,
    fit: Callable[[pa.RecordBatch], T],
    host: str | None = None,
) -> Iterator[T]:
    """Yields the results for the rows of a partition of a Spark stage, in the order of the rows.

    Args:
        plan: The nodes.
        partition: Number of the partition.
        pieces: Its rows.
        stage: Number of the stage.
        buffers: Those of this process.
        fit: Makes of results what Spark wants; what it raises, it would raise again for every attempt of the task.
        host: Name of this machine.

    Raises:
        NotFed: The node has ended, or wants no more rows.
        RemoteError: The function on it took too long.
        RowsRefused: Results are not those of the node.
    """
    remaining = signed_pieces(plan.signer, pieces)
    first = next(remaining, None)
    if first is None:
        return
    here = socket.gethostname() if host is None else host
    node = plan.node(partition, here)
    with (
        buffers.lend(plan.nodes, is_near=node.host == here) as lent,
        WireClient(node.endpoint, timeout=CALL_SECONDS, stream_timeout=STREAM_SECONDS) as client,
    ):
        try:
            sender = BufferSender(client, lent.buffer)
            each = ([placed(piece, lent.buffer)] for piece in itertools.chain([first], remaining))
            items = itertools.chain.from_iterable(map(sender.items, each))
            stream = infer_stream(partition, stage, plan.seconds, sender.buffer)
            with client.exchange(stream, first.batch.schema, items) as answers:
                for answer in answers:
                    yield _fitted(plan.signer.opened(answer), fit, node, stage)
            lent.is_settled = True
        except PeerGone as error:
            reason = (
                f"node {node.rank} on {node.host} has ended; results are computed when they are used, so use them before "
                "shutdown() of the cluster, which says why a node failed; if the cluster starts it again, call "
                "inference() again"
            )
            raise NotFed(f"inference on partition {partition}", reason) from error


def _fitted(results: pa.RecordBatch, fit: Callable[[pa.RecordBatch], T], node: FeedNode, stage: int) -> T:
    """Returns results as Spark wants them; lets the driver end the stage if they are wrong, instead of trying again."""
    try:
        return fit(results)
    except BadArguments as error:
        ask_node(node, REFUSE, {"stage": stage, "reason": error.reason})
        raise
