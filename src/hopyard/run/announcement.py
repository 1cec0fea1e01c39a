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
        LOG.log(level_to_be_seen(LOG), "TensorBoard of %s: %s", self.run.id, url)
        self.run.annotate(tensorboard=url)


def level_to_be_seen(log: logging.Logger) -> int:
    """Returns the level for a line that a user waits for.

    It is INFO. In a program that has not set up logging, Python prints nothing below WARNING, so it is that.
    """
    return logging.INFO if log.hasHandlers() else logging.WARNING
