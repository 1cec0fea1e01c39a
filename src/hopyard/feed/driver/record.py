"""Keeps the account of what was fed: sums in the run's record, partitions in files beside it."""

from __future__ import annotations

import json
import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hopyard.feed.driver.consumption import ended_early, has_enough
from hopyard.feed.driver.group_status import GroupStatus
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
        sums = {"feed": feed, **account.to_json()}
        with self._lock:
            self._put({**sums, "reports": [report.to_json() for report in reports]})
            self._epochs.append(sums)
            del self._epochs[:-MOST_EPOCHS]
            self.run.annotate(feeds=list(self._epochs))

    def note_ends(self, feeds: Collection[int], standing: GroupStatus) -> None:
        """Adds to the accounts of some feeds which nodes have ended theirs meanwhile, before they had read an epoch."""
        ended = [node for node in standing.nodes if has_enough(node)]
        if not ended:
            return
        with self._lock:
            before = list(self._epochs)
            for place, sums in enumerate(before):
                if sums["feed"] in feeds and sums["attempt"] == standing.attempt:
                    early = ended_early(ended, sums["feed"], sums["epoch"])
                    self._epochs[place] = {**sums, "ended_by": sorted(early.union(sums["ended_by"]))}
            changed = [sums for sums, old in zip(self._epochs, before, strict=True) if sums != old]
            for sums in changed:
                self._put({**json.loads(self.project.read(self._path(sums))), **sums})
            if changed:
                self.run.annotate(feeds=list(self._epochs))

    def _put(self, account: dict[str, Any]) -> None:
        self.project.put(self._path(account), json.dumps(account).encode())

    def _path(self, account: dict[str, Any]) -> str:
        return run_paths(self.project, self.run.id).feed(account["feed"], account["epoch"])
