"""Keeps the account of what was fed: sums in the run's record, partitions in files beside it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hopyard.store import Project
from hopyard.tracking import RunWriter, run_paths

if TYPE_CHECKING:
    from hopyard.feed.account import EpochAccount
    from hopyard.feed.feeder import PartitionReport

MOST_EPOCHS = 100


@dataclass(frozen=True, slots=True)
class FeedRecord:
    """Takes the account of each epoch; of very many, the record has the last ones."""

    project: Project
    run: RunWriter
    _epochs: list[dict[str, Any]] = field(default_factory=list, init=False)

    def __call__(self, feed: int, account: EpochAccount, reports: Sequence[PartitionReport]) -> None:
        """Stores the account of one epoch."""
        paths = run_paths(self.project, self.run.id)
        sums = {"feed": feed, **account.to_json()}
        lines = {**sums, "reports": [report.to_json() for report in reports]}
        self.project.put(paths.feed(feed, account.epoch), json.dumps(lines).encode())
        self._epochs.append(sums)
        del self._epochs[:-MOST_EPOCHS]
        self.run.annotate(feeds=list(self._epochs))
