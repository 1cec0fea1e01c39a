"""Nulls that came out as NaN, which a loss then is, too."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping

LOG = logging.getLogger(__name__)


class NanTally:
    """Counts the nulls of each column that a function got as NaN; the log tells the first ones of each."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def add(self, nulls: Mapping[str, int]) -> None:
        """Records the nulls of a batch, by column."""
        for column, count in nulls.items():
            if column not in self.counts:
                LOG.warning("column %r has nulls, which are NaN in its arrays", column)
            self.counts[column] += count
