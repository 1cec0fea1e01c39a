"""The results for a partition, on their way out of the node."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa

from hopyard.errors import PeerGone
from hopyard.feed.node.inbox import Inbox
from hopyard.feed.node.inference_request import InferenceRequest
from hopyard.feed.node.level import Taken
from hopyard.feed.shared_memory.transfer import BufferReceiver
from hopyard.feed.signed_rows import RowSigner
from hopyard.wire import BatchReader

LOG = logging.getLogger(__name__)


class InferenceAnswers:
    """Results in the order of the rows that are sent, while they are still being sent.

    Args:
        inbox: Where the rows wait for the function.
        request: The partition, which is new there.
        batches: The rows, or what stands for them.
        receiver: Knows which rows.
        seconds: How long the function may take for the next results.
        signer: Opens rows that are pickled, and signs results that are.

    Raises:
        FeedStalled: It took longer for the first ones.
        NotFed: The function has ended its feed.
        Exception: Whatever is wrong with the rows.
    """

    def __init__(
        self,
        inbox: Inbox,
        request: InferenceRequest,
        batches: BatchReader,
        receiver: BufferReceiver,
        seconds: float,
        signer: RowSigner,
    ) -> None:
        self._inbox = inbox
        self._request = request
        self._receiver = receiver
        self._seconds = seconds
        self._signer = signer
        self._error: Exception | None = None
        name = f"hopyard-infer-{request.name}"
        self._asking = threading.Thread(target=self._ask, args=(batches,), name=name, daemon=True)
        self._asking.start()
        self._first = self._next()
        self.schema = pa.schema([]) if self._first is None else self._first.schema

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        try:
            results = self._first
            while results is not None:
                yield results
                results = self._next()
        finally:
            self._end()

    def _next(self) -> pa.RecordBatch | None:
        try:
            answer = self._request.next_answer(self._seconds)
            return None if answer is None else self._signer.signed(answer)
        except BaseException:
            self._end()
            if self._error is not None:
                raise self._error from None
            raise

    def _end(self) -> None:
        """Gives the request up, and returns when nothing is read any more: what is read from ends with the call.

        Whoever sends the rows sends another piece, ends or is cancelled; and the node does not wait for this when it ends.
        """
        self._inbox.close(self._request)
        self._asking.join()

    def _ask(self, batches: BatchReader) -> None:
        try:
            for item in batches.tagged():
                for piece in self._receiver.pieces(item):
                    rows = replace(piece, batch=self._signer.opened(piece.batch))
                    if self._inbox.ask(self._request, rows) is not Taken.KEPT:
                        return
            self._inbox.complete(self._request)
        except PeerGone as error:  # a task that was killed, or wants no more results
            LOG.info("%s broke off: %s", self._request.name, error)
            self._inbox.close(self._request)
        except Exception as error:  # noqa: BLE001  the edge of a thread: whoever asks gets to know it
            self._error = error
            self._inbox.close(self._request)
