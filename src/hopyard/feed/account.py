"""The account of an epoch: what was sent, what arrived, and whether that is the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from hopyard.errors import FeedMiscounted
from hopyard.feed.task.partition_sender import PartitionReport


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochAccount:
    """What became of all rows in one epoch.

    Attributes:
        epoch: Its number, from 0 on.
        rows: Rows that the nodes have taken.
        by_node: The same by rank, whichever attempt of a task brought them.
        partitions: How many partitions there were.
        skipped: Rows that Spark computed twice, since a task was repeated, and that were not fed again.
        dropped: Rows that were sent to nodes which had ended or wanted no more.
        is_whole: Whether all rows were computed.
        is_replayed: Whether the nodes read the rows of an earlier epoch again.
        seconds: How long it took.
        attempt: How often the nodes that got the rows had been started again.
        ended_by: The ranks whose functions had ended their feed (``terminate()``) when the epoch was over; what they
            had not read of it is lost.

    How many rows nodes leave out to keep step with others (``uneven=``) is not known before they have read them: the
    run's record tells it, see `hopyard.tracking.read_feeds`.
    """

    epoch: int
    rows: int
    by_node: Mapping[int, int]
    partitions: int = 0
    skipped: int = 0
    dropped: int = 0
    is_whole: bool = True
    is_replayed: bool = False
    seconds: float = 0.0
    attempt: int = 0
    ended_by: tuple[int, ...] = ()

    @classmethod
    def of(cls, epoch: int, reports: Sequence[PartitionReport], seconds: float) -> Self:
        """Returns the sum of what the tasks report."""
        by_node: Counter[int] = Counter()
        for report in reports:
            by_node.update(report.by_node)
        return cls(
            epoch=epoch,
            rows=by_node.total(),
            by_node=dict(sorted(by_node.items())),
            partitions=len(reports),
            skipped=sum(report.skipped for report in reports),
            dropped=sum(report.dropped for report in reports),
            is_whole=all(report.is_whole for report in reports),
            seconds=round(seconds, 3),
        )

    @classmethod
    def replayed(cls, epoch: int, by_node: Mapping[int, int], seconds: float) -> Self:
        """Returns the account of an epoch for which Spark had nothing to do."""
        rows = sum(by_node.values())
        return cls(epoch=epoch, rows=rows, by_node=by_node, is_replayed=True, seconds=seconds)

    def to_json(self) -> dict[str, Any]:
        """Returns this as it is stored."""
        return {
            "epoch": self.epoch,
            "rows": self.rows,
            "by_node": {str(rank): rows for rank, rows in self.by_node.items()},
            "partitions": self.partitions,
            "skipped": self.skipped,
            "dropped": self.dropped,
            "is_whole": self.is_whole,
            "is_replayed": self.is_replayed,
            "seconds": self.seconds,
            "attempt": self.attempt,
            "ended_by": list(self.ended_by),
        }


def check(epoch: int, reports: Sequence[PartitionReport], counts: Sequence[Mapping[int, int]]) -> None:
    """Compares what was sent with what the nodes have counted, partition by partition.

    Args:
        epoch: The epoch.
        reports: What the tasks say that they have sent.
        counts: Of each node: rows received, by partition.

    Raises:
        FeedMiscounted: They differ.
    """
    received: dict[int, int] = {}
    for count in counts:
        for partition, rows in count.items():
            received[partition] = received.get(partition, 0) + rows
    sent = {report.partition: report.rows - report.dropped for report in reports}
    wrong = [
        f"partition {partition}: {sent.get(partition, 0)} sent, {received.get(partition, 0)} received"
        for partition in sorted(sent.keys() | received.keys())
        if sent.get(partition, 0) != received.get(partition, 0)
    ]
    if wrong:
        raise FeedMiscounted(epoch, tuple(wrong))
