"""What a user wants to know of how a function and its study go together: said in the log, each thing once."""

from __future__ import annotations

import logging

from hopyard.errors import InvalidSearch
from hopyard.search.options import DIRECTION_REMEDY, is_loss
from hopyard.tracking import TrialRecord, TrialState

LOG = logging.getLogger(__name__)


class StudyAdvice:
    """Looks at the trials of a study, and says what seems not to be meant.

    Args:
        metric: What is compared.
        is_assumed: Whether nobody said what counts, so that large values of whatever is returned are better.
    """

    def __init__(self, *, metric: str, is_assumed: bool = False) -> None:
        self._metric = metric
        self._is_assumed = is_assumed
        self._has_told_to_ask = False

    def end(self, record: TrialRecord) -> None:
        """Looks at what came of a trial.

        Raises:
            InvalidSearch: Its value is called like a loss, and nobody said that small values are better.
        """
        if record.state is not TrialState.FINISHED:
            return
        self._tell_who_never_asks(record)
        if record.values:
            self._tell_direction(record)

    def _tell_who_never_asks(self, record: TrialRecord) -> None:
        if record.never_asked and not self._has_told_to_ask:
            self._has_told_to_ask = True
            LOG.warning(
                "trial %d was to be stopped early, but never asks: report with hopyard.Reporter(ctx) instead of "
                "ctx.report, or end when ctx.should_stop() is true",
                record.number,
            )

    def _tell_direction(self, record: TrialRecord) -> None:
        if self._is_assumed:
            check_is_no_loss(record.returned_as)
            LOG.warning(
                "the study maximises %r; for a loss give direction='min'", record.returned_as or self._metric
            )
            self._is_assumed = False


def check_is_no_loss(name: str) -> None:
    """Checks that large values of what is compared may be better, since nobody said which are.

    Raises:
        InvalidSearch: It is called like a loss.
    """
    if is_loss(name):
        raise InvalidSearch(
            f"{name!r} is called like a loss, and the search has no direction", DIRECTION_REMEDY
        )
