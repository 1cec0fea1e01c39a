"""Tells where the TensorBoard of a run is."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from hopyard.tracking import RunWriter

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Announcement:
    """Tells where the TensorBoard of a run is: in the log, and in the run's record."""

    run: RunWriter

    def __call__(self, url: str) -> None:
        """Takes the address."""
        LOG.info("TensorBoard of %s: %s", self.run.id, url)
        self.run.annotate(tensorboard=url)
