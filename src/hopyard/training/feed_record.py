"""Keeps the account of what was fed: sums in the run's record, partitions in files beside it."""

from __future__ import annotations

import json
import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hopyard.store import Project
from hopyard.tracking import RunWriter, run_paths
from hopyard.training.feed_watch import ended_early
from hopyard.training.standing import Standing

if TYPE_CHECKING:
    from hopyard.feed.account import EpochAccount
    from hopyard.feed.feeder import PartitionReport

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
        sums = {"feed": feed, **account.to_json()}
        with self._lock:
            self._put({**sums, "reports": [report.to_json() for report in reports]})
            self._epochs.append(sums)
            del self._epochs[:-MOST_EPOCHS]
            self.run.annotate(feeds=list(self._epochs))

    def note_ends(self, feeds: Collection[int], standing: Standing) -> None:
        """Adds to the accounts of some feeds which nodes have ended theirs meanwhile, before they had read an epoch."""
        with self._lock:
            late = [place for place, sums in enumerate(self._epochs) if self._is_late(sums, feeds, standing)]
            for place in late:
                sums = self._epochs[place]
                early = ended_early(standing.nodes, sums["feed"], sums["epoch"])
                self._epochs[place] = {**sums, "ended_by": sorted(early.union(sums["ended_by"]))}
                stored = json.loads(self.project.read(self._path(sums)))
                self._put({**stored, "ended_by": self._epochs[place]["ended_by"]})
            if late:
                self.run.annotate(feeds=list(self._epochs))

    def _is_late(self, sums: dict[str, Any], feeds: Collection[int], standing: Standing) -> bool:
        if sums["feed"] not in feeds or sums["attempt"] != standing.attempt:
            return False
        return not ended_early(standing.nodes, sums["feed"], sums["epoch"]).issubset(sums["ended_by"])

    def _put(self, account: dict[str, Any]) -> None:
        self.project.put(self._path(account), json.dumps(account).encode())

    def _path(self, account: dict[str, Any]) -> str:
        return run_paths(self.project, self.run.id).feed(account["feed"], account["epoch"])
