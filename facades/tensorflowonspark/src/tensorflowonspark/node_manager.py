"""`NodeManager`: the ``ctx.mgr`` of a training function."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from hopyard.errors import BadArguments, NotFed, NotOffered
from tensorflowonspark.fed_rows import FedRows
from tensorflowonspark.node_queues import InputQueue, OutputQueue

if TYPE_CHECKING:
    from hopyard.run.data_feed import DataFeed

STATE = "state"
RUNNING = "running"
TERMINATING = "terminating"
OUTPUT = "output"
_OURS = ("error", "control")


class NodeManager:
    """Values of a node under the old names, and the way to its feed.

    Args:
        queues: Names of the feed's queues.
        open_feed: Returns the feed of the node; None in a cluster that is not fed.
    """

    def __init__(self, queues: Sequence[str], open_feed: Callable[[], DataFeed] | None = None) -> None:
        self._queues = tuple(queues)
        self._rows = None if open_feed is None else FedRows(open_feed)
        self._source: str | None = None
        self._lock = threading.Lock()
        self._values: dict[str, object] = {STATE: RUNNING}

    def get(self, key: str) -> Value:
        """Returns a value.

        Raises:
            KeyError: There is none of that name.
        """
        return Value(self._values[key])

    def set(self, key: str, value: object) -> None:
        """Keeps a value on this node; the state ``"terminating"`` ends its feed."""
        self._values[key] = value
        if (key, value) == (STATE, TERMINATING) and self._rows is not None:
            self._rows.stop()

    def get_queue(self, qname: str) -> InputQueue | OutputQueue:
        """Returns a queue: the ``output`` takes results, each other one has the rows that are fed.

        Raises:
            BadArguments: There is none of that name.
            NotFed: The cluster is not fed.
            NotOffered: It is the queue of errors, or there is another queue with rows.
        """
        if qname in _OURS:
            raise NotOffered(f"get_queue({qname!r})", "raise what is to be told, and the driver raises it")
        if qname == OUTPUT:
            self._check(qname)
            return OutputQueue(self._fed())
        return InputQueue(self.rows(qname))

    def rows(self, qname_in: str, qname_out: str = OUTPUT) -> FedRows:
        """Returns the rows that are fed, by the names of their queue and that of the results.

        Raises:
            BadArguments: There is none of that name.
            NotFed: The cluster is not fed.
            NotOffered: The node reads from a queue of another name already.
        """
        for qname in (qname_in, qname_out):
            self._check(qname)
        with self._lock:
            self._source = self._source or qname_in
        if self._source != qname_in:
            reason = f"this node reads from {self._source!r} already, and a cluster has one feed"
            raise NotOffered(f"a feed from {qname_in!r}", reason)
        return self._fed()

    def _check(self, qname: str) -> None:
        if qname not in self._queues:
            raise BadArguments("DataFeed", unknown(qname, self._queues))

    def _fed(self) -> FedRows:
        if self._rows is None:
            raise NotFed(
                "a data feed", "give TFCluster.run() input_mode=InputMode.SPARK, and it feeds its nodes"
            )
        return self._rows


class Value:
    """A value as a manager returns it, which is not quite the value: its text is the ``repr`` of it."""

    def __init__(self, value: object) -> None:
        self._value = value

    def _getvalue(self) -> Any:
        return self._value

    def __str__(self) -> str:
        return repr(self._value)

    def __repr__(self) -> str:
        return f"Value({self._value!r})"

    def __eq__(self, other: object) -> bool:
        return bool(self._value == (other._value if isinstance(other, Value) else other))

    def __hash__(self) -> int:
        return hash(self._value)


def unknown(qname: str, queues: Sequence[str]) -> str:
    """Returns the words for a queue that there is not."""
    return f"the queue {qname!r} is none of the cluster's: {', '.join(queues)}"
