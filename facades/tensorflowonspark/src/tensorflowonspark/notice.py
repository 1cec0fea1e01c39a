"""Tells the user of a cluster where its things are."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from hopyard.run.announcement import level_to_be_seen

if TYPE_CHECKING:
    from hopyard.run.cluster import Cluster

LOG = logging.getLogger(__name__)


def tell(text: str, *values: object) -> None:
    """Writes a line to the driver's log, also where the program has not set up logging."""
    LOG.log(level_to_be_seen(LOG), text, *values)


def tell_where(run: Cluster) -> None:
    """Tells where a run keeps its files, and how its logs are read; its TensorBoard is told once it answers."""
    tell("run folder: %s", run.logdir)
    tell("logs of the nodes: hopyard logs %s --all --follow", run.run_id)
