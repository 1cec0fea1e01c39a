"""Tells where things of a run are: its TensorBoard, and what its nodes left in their working folders."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass

from hopyard.store import Project
from hopyard.tracking import NodeOutcome, RunId, RunWriter, run_paths
from hopyard.worker.left_files import KEPT_IN

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Announcement:
    """Tells where the TensorBoard of a run is: in the log, and in the run's record."""

    run: RunWriter

    def __call__(self, url: str) -> None:
        """Takes the address."""
        LOG.log(level_to_be_seen(LOG), "TensorBoard of %s: %s", self.run.id, url)
        self.run.annotate(tensorboard=url)


def tell_left_files(project: Project, run_id: RunId, nodes: Iterable[NodeOutcome]) -> None:
    """Says, in one line of the log, where that is kept which nodes left in the working folders of their executors."""
    paths = run_paths(project, run_id)
    kept, lost = [], []
    for node in nodes:
        if node.kept:
            kept.append(f"{project.url(paths.node_logdir(node.rank))}/{KEPT_IN} ({node.kept})")
        if node.lost:
            lost.append(f"not kept: {node.lost}")
    if kept or lost:
        # a warning: whoever wrote there looks for them elsewhere
        LOG.warning("files that were written to relative paths: %s", "; ".join(kept + lost))


def level_to_be_seen(log: logging.Logger) -> int:
    """Returns the level for a line that a user waits for.

    It is INFO. In a program that has not set up logging, Python prints nothing below WARNING, so it is that.
    """
    return logging.INFO if log.hasHandlers() else logging.WARNING
