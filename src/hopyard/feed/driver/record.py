"""Keeps the account of what was fed: sums in the run's record, partitions in files beside it."""

from __future__ import annotations

import json
import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hopyard.feed.driver.consumption import ended_early, has_enough
from hopyard.feed.driver.group_status import GroupStatus
from hopyard.feed.state import FeedState
from hopyard.store import Project
from hopyard.tracking import RunWriter, run_paths

if TYPE_CHECKING:
    from hopyard.feed.account import EpochAccount
    from hopyard.feed.task.partition_sender import PartitionReport

MOST_EPOCHS = 100


@dataclass(frozen=True, slots=True)
class FeedRecord:
    """Takes the account of each epoch; of very many, the record has the last ones. For several threads."""

    project: Project
    run: RunWriter
    _epochs: list[dict[str, Any]] = field(default_factory=list, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def __call__(self, feed: int, account: EpochAccount, reports: Sequence[PartitionReport]) -> None:
        """Stores the account of one epoch."""
        sums = {"feed": feed, **account.to_json(), "left_out": {}}
        with self._lock:
            self._put({**sums, "reports": [report.to_json() for report in reports]})
            self._epochs.append(sums)
            del self._epochs[:-MOST_EPOCHS]
            self.run.annotate(feeds=list(self._epochs))

    def note_ends(self, feeds: Collection[int], standing: GroupStatus) -> None:
        """Adds to the accounts of some feeds what nodes have left of an epoch: who has ended its feed before, and who has left out rows."""
        with self._lock:
            before = list(self._epochs)
            for place, sums in enumerate(before):
                if sums["feed"] in feeds and sums["attempt"] == standing.attempt:
                    self._epochs[place] = {**sums, **_what_is_left(sums, standing)}
            changed = [sums for sums, old in zip(self._epochs, before, strict=True) if sums != old]
            for sums in changed:
                self._put({**json.loads(self.project.read(self._path(sums))), **sums})
            if changed:
                self.run.annotate(feeds=list(self._epochs))

    def _put(self, account: dict[str, Any]) -> None:
        self.project.put(self._path(account), json.dumps(account).encode())

    def _path(self, account: dict[str, Any]) -> str:
        return run_paths(self.project, self.run.id).feed(account["feed"], account["epoch"])


def _what_is_left(sums: Mapping[str, Any], standing: GroupStatus) -> dict[str, Any]:
    feed, epoch = sums["feed"], sums["epoch"]
    ended = [node for node in standing.nodes if has_enough(node)]
    early = ended_early(ended, feed, epoch).union(sums["ended_by"])
    found = [(node.rank, FeedState.of(node.notes).left_out) for node in standing.nodes]
    rows = {str(rank): rows for rank, left in found for *of, rows in left if of == [feed, epoch]}
    return {"ended_by": sorted(early), "left_out": {**sums["left_out"], **rows}}
