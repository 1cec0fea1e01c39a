"""What was fed to the nodes of a run, read without Spark: sums of each epoch, and what became of each partition."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TypeVar

from hopyard.codec.json_value import Json, dumps, loads
from hopyard.errors import CorruptRecord, PathNotFound
from hopyard.store import Project
from hopyard.tracking.listing import Listing, decode_all
from hopyard.tracking.paths import run_paths
from hopyard.tracking.reader import RunReader
from hopyard.tracking.records import Record, RunRecord
from hopyard.tracking.runid import RunId

R = TypeVar("R", bound=Record)
_FILE = re.compile(r"(?P<feed>\d+)\.(?P<epoch>\d+)\.json")
_THREADS = 16  # as for the records of runs


@dataclass(frozen=True, slots=True, kw_only=True)
class FedEpoch(Record):
    """What became of all rows in one epoch of a feed.

    Attributes:
        feed: Number of the feed among those of the run.
        epoch: Its number, from 0.
        rows: Rows that the nodes have taken.
        by_node: The same by rank, which is text in JSON; see `rows_of_node`.
        partitions: How many partitions there were.
        skipped: Rows that Spark computed twice, since a task was repeated, and that were not fed again.
        dropped: Rows that were sent to nodes which had ended or wanted no more.
        is_whole: Whether all rows were computed.
        is_replayed: Whether the nodes read the rows of an earlier epoch again.
        seconds: How long it took.
        attempt: How often the nodes that got the rows had been started again.
        ended_by: The ranks that had ended their feed when the epoch was over.
        left_out: Rows that nodes had taken and did not use, by rank, which is text in JSON.
    """

    feed: int
    epoch: int
    rows: int
    by_node: Mapping[str, Json] = field(default_factory=dict)
    partitions: int = 0
    skipped: int = 0
    dropped: int = 0
    is_whole: bool = True
    is_replayed: bool = False
    seconds: float = 0.0
    attempt: int = 0
    ended_by: tuple[int, ...] = ()
    left_out: Mapping[str, Json] = field(default_factory=dict)

    def rows_of_node(self, rank: int) -> int:
        """Returns how many rows a node has taken."""
        return _count(self.by_node, rank)


@dataclass(frozen=True, slots=True, kw_only=True)
class FedPartition(Record):
    """What became of the rows of one partition.

    Attributes:
        partition: Its number.
        rows: How many rows it has, as far as they were computed.
        sent: How many rows each node has taken, by rank, which is text in JSON; see `rows_of_node`.
        found: How many rows each node had from earlier attempts of the task, likewise.
        dropped: Rows that were on their way to a node that ended or wanted no more.
        is_whole: Whether all rows were computed.
        waited_seconds: How long the task waited for nodes that were full.
    """

    partition: int
    rows: int
    sent: Mapping[str, Json] = field(default_factory=dict)
    found: Mapping[str, Json] = field(default_factory=dict)
    dropped: int = 0
    is_whole: bool = True
    waited_seconds: float = 0.0

    def rows_of_node(self, rank: int) -> int:
        """Returns how many rows a node has of the partition, of whichever attempt."""
        return _count(self.sent, rank) + _count(self.found, rank)


def feeds_of(project: Project, run: RunRecord) -> Listing[FedEpoch]:
    """Returns the sums that a run's record has, oldest first: those of its last epochs, without another read."""
    stored = run.details.get("feeds")
    return _decoded(FedEpoch, stored, run_paths(project, run.id).record)


def read_feeds(project: Project, run_id: RunId) -> Listing[FedEpoch]:
    """Returns the sums of all epochs that a run was fed, oldest first; none if it was not fed.

    An epoch that was fed again to nodes that were started again may be there once for each attempt.

    Raises:
        RunNotFound: There is no such run.
        CorruptRecord: Its record cannot be understood.
    """
    last = feeds_of(project, RunReader(project, run_id).record())
    known = {(each.feed, each.epoch) for each in last}
    older = [path for place, path in _files(project, run_id) if place not in known]
    with ThreadPoolExecutor(_THREADS) as pool:
        first = decode_all(FedEpoch, zip(older, pool.map(project.read, older), strict=True))
    # a file has the partitions, too, which nobody wants to keep with the sums
    return Listing((*map(_without_reports, first), *last), (*first.corrupt, *last.corrupt))


def read_fed_partitions(project: Project, run_id: RunId, feed: int, epoch: int) -> Listing[FedPartition]:
    """Returns what became of each partition in an epoch of a feed, in the last attempt at it; none if nobody knows.

    Raises:
        CorruptRecord: The account cannot be understood.
    """
    path = run_paths(project, run_id).feed(feed, epoch)
    try:
        account = loads(project.read(path))
    except PathNotFound:
        return Listing(())
    except ValueError as error:
        raise CorruptRecord(path, str(error)) from error
    if not isinstance(account, Mapping):
        raise CorruptRecord(path, "it is no JSON object")
    return _decoded(FedPartition, account.get("reports"), path)


def _files(project: Project, run_id: RunId) -> list[tuple[tuple[int, int], str]]:
    """Returns feed and epoch of the accounts that have a file, and its path, in order."""
    try:
        entries = project.list(run_paths(project, run_id).feeds)
    except PathNotFound:
        return []
    matches = ((_FILE.fullmatch(entry.name), entry.path) for entry in entries)
    return sorted(((int(match["feed"]), int(match["epoch"])), path) for match, path in matches if match)


def _decoded(kind: type[R], stored: Json, path: str) -> Listing[R]:
    if stored is None:
        return Listing(())
    if not isinstance(stored, (list, tuple)):
        return Listing((), (CorruptRecord(path, f"expected a list of accounts, found {stored!r:.80}"),))
    return decode_all(kind, _numbered(stored, path))


def _numbered(stored: Iterable[Json], path: str) -> Iterator[tuple[str, bytes]]:
    for number, each in enumerate(stored, start=1):
        yield f"{path}, account {number}", dumps(each)


def _without_reports(account: FedEpoch) -> FedEpoch:
    extra = {name: value for name, value in account.extra.items() if name != "reports"}
    return replace(account, extra=extra)


def _count(by_rank: Mapping[str, Json], rank: int) -> int:
    rows = by_rank.get(str(rank), 0)
    return rows if isinstance(rows, int) else 0
