"""What a node serves to those that feed it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Protocol

import pyarrow as pa

from hopyard.errors import PeerGone, RowsRefused, UnknownMethod
from hopyard.feed.cache.epoch_cache import EpochCache
from hopyard.feed.cache.validation_rows import StoredRows
from hopyard.feed.lockstep.member import AGREE, LEAVE, LockstepGroup, LockstepGroups
from hopyard.feed.node.inbox import Inbox
from hopyard.feed.node.inference_answers import InferenceAnswers
from hopyard.feed.node.level import Taken, Verdict
from hopyard.feed.node.received_rows import PartitionKey
from hopyard.feed.pieces import Piece, is_pickled
from hopyard.feed.ranges import Ranges
from hopyard.feed.remote import FeedNode
from hopyard.feed.shared_memory.transfer import NO_BUFFER, REACH, BufferReceiver, can_reach
from hopyard.feed.signed_rows import RowSigner
from hopyard.wire import Batches, BatchReader, Endpoint, Json, Service, Tagged

LOG = logging.getLogger(__name__)
OPEN = "open"
CLAIM = "claim"
COUNTS = "counts"
FORGET = "forget"
END = "end"
BEGIN = "begin"
END_EPOCH = "end_epoch"
HOLD = "hold"
HELD = "held"
SEAL = "seal"
REPLAY = "replay"
PROGRESS = "progress"
REFUSE = "refuse"
TRAIN = "train"
INFER = "infer"
NOTHING = pa.record_batch({"nothing": pa.nulls(0)})  # `pa.array` would import pandas, a quarter of a second


def train_stream(key: PartitionKey, attempt: int, buffer: str = NO_BUFFER) -> str:
    """Returns the name of the stream into which an attempt sends a partition; what errors call it comes first."""
    return f"rows of partition {key.partition}?" + "/".join((TRAIN, *map(str, key), str(attempt), buffer))


def infer_stream(partition: int, stage: int, seconds: float, buffer: str = NO_BUFFER) -> str:
    """Returns the name of the stream into which the rows of a partition are sent, and out of which results come."""
    return f"rows of partition {partition} for results?{INFER}/{partition}/{stage}/{seconds}/{buffer}"


class Confirmations:
    """What becomes of pieces, one by one, beside batches that hold nothing."""

    schema = NOTHING.schema

    def __init__(self, taken: Iterator[Tagged]) -> None:
        self._taken = taken

    def __iter__(self) -> Iterator[Tagged]:
        return self._taken


class Receiver(Protocol):
    """Takes the pieces of a feed, with an account of what came: an `Inbox`, or `StoredRows`."""

    def open(self, key: PartitionKey, attempt: int) -> bool:
        """Records that an attempt begins; returns whether it may not be the first one to bring it."""

    def claim(self, key: PartitionKey, attempt: int) -> Ranges:
        """Gives a partition to an attempt alone; returns the rows of it that are here."""

    def put(self, piece: Piece, key: PartitionKey, attempt: int) -> Taken:
        """Keeps a piece of a partition."""

    def counts(self, feed: int, epoch: int) -> dict[int, int]:
        """Returns how many rows of an epoch came, by partition."""

    def forget(self, feed: int, epoch: int) -> None:
        """Drops the account of an epoch, which is over."""


class FeedService(Service):
    """Serves an inbox; called from threads of the wire.

    Args:
        inbox: Where rows to learn from wait.
        stored: Where rows for validation are kept.
        cache: What is kept for later epochs.
        groups: Who is fed together.
        signer: Opens rows that are pickled, and signs results that are.
    """

    def __init__(
        self, inbox: Inbox, stored: StoredRows, cache: EpochCache, groups: LockstepGroups, signer: RowSigner
    ) -> None:
        self._inbox = inbox
        self._signer = signer
        self._pickled_feeds: set[int] = set()
        self._stored = stored
        self._cache = cache
        self._groups = groups
        self._methods: dict[str, Callable[[Mapping[str, Any]], dict[str, Json]]] = {
            OPEN: self._open,
            CLAIM: self._claim,
            COUNTS: self._counts,
            FORGET: self._forget,
            END: self._end,
            BEGIN: self._begin,
            END_EPOCH: self._end_epoch,
            HOLD: self._hold,
            HELD: self._held,
            SEAL: self._seal,
            REPLAY: self._replay,
            PROGRESS: self._progress,
            AGREE: self._agree,
            LEAVE: self._leave,
            REACH: self._reach,
            REFUSE: self._refuse,
        }

    def call(self, method: str, message: Mapping[str, Json]) -> Mapping[str, Json]:
        """Answers a feeder, or the driver."""
        if method not in self._methods:
            raise UnknownMethod(method)
        return self._methods[method](message)

    def exchange(self, stream: str, batches: BatchReader) -> Batches:
        """Takes in what a feeder sends, as long as there is room and the node wants it; confirms each piece."""
        kind, *numbers, buffer = stream.rpartition("?")[2].split("/")
        if kind == TRAIN:
            feed, epoch, partition, attempt = map(int, numbers)
            return Confirmations(self._take(batches, buffer, PartitionKey(feed, epoch, partition), attempt))
        if kind == INFER:
            partition, stage, seconds = int(numbers[0]), int(numbers[1]), float(numbers[2])
            receiver = BufferReceiver(buffer)
            request = self._inbox.new_request(f"partition {partition}", stage)
            return InferenceAnswers(self._inbox, request, batches, receiver, seconds, self._signer)
        raise UnknownMethod(stream)

    def _take(self, batches: BatchReader, buffer: str, key: PartitionKey, attempt: int) -> Iterator[Tagged]:
        try:
            receiver = BufferReceiver(buffer)
            for item in batches.tagged():
                verdict = self._keep(receiver.pieces(item), key, attempt)
                yield Tagged(NOTHING, verdict.to_bytes())
                if verdict.taken is not Taken.KEPT:
                    return
        except (
            PeerGone
        ) as error:  # a task that was killed; Spark starts another one, or the job was cancelled
            LOG.info("partition %d broke off: %s", key.partition, error)

    def _keep(self, pieces: Iterable[Piece], key: PartitionKey, attempt: int) -> Verdict:
        kept = 0
        for piece in pieces:
            rows = self._admitted(piece, key.feed)
            taken = self._receiver(key.feed).put(rows, key, attempt)
            if taken is not Taken.KEPT:
                return Verdict(taken, kept)
            self._cache.append(key.feed, rows)
            kept += 1
        return Verdict(Taken.KEPT, kept)

    def _admitted(self, piece: Piece, feed: int) -> Piece:
        """Returns a piece whose rows are of the kind that the driver has announced, and signed if they are pickled."""
        expected, found = feed in self._pickled_feeds, is_pickled(piece.batch.schema)
        if found != expected:
            kinds = {True: "pickled rows", False: "columns"}
            raise RowsRefused(f"feed {feed} has {kinds[expected]}, and {kinds[found]} came")
        return replace(piece, batch=self._signer.opened(piece.batch))

    def _begin(self, message: Mapping[str, Any]) -> dict[str, Json]:
        hub = FeedNode(rank=message["ranks"][0], host="", endpoint=Endpoint(**message["hub"]))
        self._groups.meet(LockstepGroup(hub=hub, ranks=tuple(message["ranks"])))
        self._expect(message)
        if message["share"]:
            self._cache.begin(message["feed"], message["share"])
        self._inbox.begin(message["feed"], message["epoch"], message["epochs_left"])
        self._stored.tell()
        return {}

    def _end_epoch(self, message: Mapping[str, Any]) -> dict[str, Json]:
        self._inbox.end_epoch(message["feed"], message["epoch"])
        return {}

    def _expect(self, message: Mapping[str, Any]) -> None:
        """Records the kind of rows that a feed has."""
        if message["pickled"]:
            self._pickled_feeds.add(message["feed"])

    def _hold(self, message: Mapping[str, Any]) -> dict[str, Json]:
        self._expect(message)
        self._stored.begin(message["feed"], message["share"])
        return {}

    def _held(self, _message: Mapping[str, Any]) -> dict[str, Json]:
        rows, is_whole = self._stored.seal()
        return {"rows": rows, "whole": is_whole}

    def _receiver(self, feed: int) -> Receiver:
        return self._stored if self._stored.is_of(feed) else self._inbox

    def _seal(self, message: Mapping[str, Any]) -> dict[str, Json]:
        return {"whole": self._cache.seal(message["feed"])}

    def _replay(self, message: Mapping[str, Any]) -> dict[str, Json]:
        self._cache.replay(range(*message["epochs"]), message["seed"])
        return {}

    def _progress(self, _message: Mapping[str, Any]) -> dict[str, Json]:
        progress = self._cache.progress
        return {"rows": list(progress.rows), "done": progress.is_done, "error": progress.error}

    def _agree(self, message: Mapping[str, Any]) -> dict[str, Json]:
        return self._groups.agree(message)

    def _leave(self, message: Mapping[str, Any]) -> dict[str, Json]:
        self._groups.leave(message)
        return {}

    def _refuse(self, message: Mapping[str, Any]) -> dict[str, Json]:
        self._inbox.refuse(message["stage"], message["reason"])
        return {}

    def _reach(self, message: Mapping[str, Any]) -> dict[str, Json]:
        return {"is_reached": can_reach(message["buffer"])}

    def _open(self, message: Mapping[str, Any]) -> dict[str, Json]:
        earlier = self._receiver(message["feed"]).open(_key(message), message["attempt"])
        return {"earlier": earlier, "stopped": self._inbox.level.is_stopped}

    def _claim(self, message: Mapping[str, Any]) -> dict[str, Json]:
        ranges = self._receiver(message["feed"]).claim(_key(message), message["attempt"])
        return {"ranges": [[*pair] for pair in ranges]}

    def _counts(self, message: Mapping[str, Any]) -> dict[str, Json]:
        counts = self._receiver(message["feed"]).counts(message["feed"], message["epoch"])
        return {
            "partitions": [[*pair] for pair in counts.items()],
            "stopped": self._inbox.level.is_stopped,
        }

    def _forget(self, message: Mapping[str, Any]) -> dict[str, Json]:
        self._receiver(message["feed"]).forget(message["feed"], message["epoch"])
        return {}

    def _end(self, message: Mapping[str, Any]) -> dict[str, Json]:
        self._inbox.end(was_used=message.get("was_used", True))
        self._stored.tell()
        return {}


def _key(message: Mapping[str, Any]) -> PartitionKey:
    return PartitionKey(message["feed"], message["epoch"], message["partition"])
