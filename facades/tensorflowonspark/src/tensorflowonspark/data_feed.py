"""`DataFeed`: what a training function reads its rows from."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tensorflowonspark.node_manager import NodeManager
from tensorflowonspark.queue_rows import QueueRows

if TYPE_CHECKING:
    from tensorflowonspark.row_source import RowSource

LOG = logging.getLogger(__name__)


class DataFeed:
    """The rows that Spark feeds to this node, in batches.

    Args:
        mgr: ``ctx.mgr``, or a `TFManager` into whose queues somebody else puts rows.
        train_mode: Whether the rows are to be learnt from; False if each wants a result (`batch_results`).
        qname_in: Name of the queue with the rows.
        qname_out: Name of the queue for the results.
        input_mapping: Names of tensors by the names of columns; batches then are dictionaries.

    Attributes:
        input_tensors: The names of the tensors in the order of a row's values; None without `input_mapping`.

    Raises:
        BadArguments: There is no such queue; the `RemoteError` of a `TFManager` tells the same.
        NotFed: The cluster was not started with ``InputMode.SPARK``.
    """

    def __init__(
        self,
        mgr: Any,
        train_mode: bool = True,
        qname_in: str = "input",
        qname_out: str = "output",
        input_mapping: Mapping[str, str] | None = None,
    ) -> None:
        self.mgr = mgr
        self.train_mode = train_mode
        self.qname_in = qname_in
        self.qname_out = qname_out
        self.input_tensors = (
            None if input_mapping is None else [name for _, name in sorted(input_mapping.items())]
        )
        is_ours = isinstance(mgr, NodeManager)
        self._rows: RowSource = (
            mgr.rows(qname_in, qname_out) if is_ours else QueueRows(mgr, qname_in, qname_out)
        )

    @property
    def done_feeding(self) -> bool:
        """Whether all rows have been read and no more will come, or the feed was terminated."""
        return self._rows.is_done

    def next_batch(self, batch_size: int) -> Any:
        """Returns the next rows: a list of them, or by the name of each tensor the list of its values.

        There are fewer than asked for at the end of the feed, none after it, and fewer at the end of a partition
        whose rows want results.
        """
        rows: list[Any] = self._rows.take(batch_size, train_mode=self.train_mode)
        if self.input_tensors is None:
            return rows
        return {name: [row[place] for row in rows] for place, name in enumerate(self.input_tensors)}

    def should_stop(self) -> bool:
        """Whether all rows have been read and no more will come, or the feed was terminated."""
        return self.done_feeding

    def batch_results(self, results: Iterable[object]) -> None:
        """Hands in the results of `TFCluster.inference`, one for each row that was read, in their order.

        Raises:
            WrongResults: There are more than rows.
        """
        self._rows.answer(results)

    def terminate(self) -> None:
        """Ends the feed of this node: what still comes is refused. It returns at once."""
        LOG.info("the function has ended its feed")
        self.mgr.set("state", "terminating")
        self._rows.stop()
