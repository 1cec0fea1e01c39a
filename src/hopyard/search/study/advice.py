"""What a user wants to know of how a function and its study go together: said in the log, each thing once."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

from hopyard.errors import InvalidSearch
from hopyard.search.options import DIRECTION_REMEDY, is_loss
from hopyard.search.trial.result import DEFAULT_METRIC
from hopyard.tracking import TrialRecord, TrialState

LOG = logging.getLogger(__name__)


class StudyAdvice:
    """Looks at the trials of a study, and says what seems not to be meant.

    Args:
        metric: What is compared.
        is_assumed: Whether nobody said what counts, so that large values of whatever is returned are better.
        is_judged: Whether there is a pruner, which compares what trials report.
    """

    def __init__(self, *, metric: str, is_assumed: bool = False, is_judged: bool = False) -> None:
        self._metric = metric
        self._is_assumed = is_assumed
        self._is_judged = is_judged
        self._names: dict[int, set[str]] = {}  # of what each trial has reported
        self._has_told_to_ask = self._has_told_names = False

    def report(self, number: int, metrics: Iterable[str]) -> None:
        """Looks at what a trial reports."""
        if self._is_judged and not self._has_told_names:
            self._names.setdefault(number, set()).update(metrics)

    def end(self, record: TrialRecord, *, is_compared: bool) -> None:
        """Looks at what came of a trial.

        Args:
            record: The trial.
            is_compared: Whether it reported something that a pruner can compare.

        Raises:
            InvalidSearch: Its value is called like a loss, and nobody said that small values are better.
        """
        names = self._names.pop(record.number, set())
        if record.state is not TrialState.FINISHED:
            return
        if self._is_judged and not self._has_told_names:
            self._tell_names(record.number, sorted(names), is_compared=is_compared)
        self._tell_who_never_asks(record)
        if record.values:
            self._tell_direction(record)

    def _tell_names(self, number: int, names: Sequence[str], *, is_compared: bool) -> None:
        """Says what the pruner lacks; a single metric of another name stands for one that was not named."""
        metric, reported = self._metric, ", ".join(map(repr, names))
        if is_compared and (not names or metric in names or metric == DEFAULT_METRIC):
            return
        self._has_told_names = True
        if not names:
            LOG.warning(
                "trial %d has reported nothing, so that the pruner cannot stop it early: call "
                "report = hopyard.Reporter(ctx), and report(step, %s=...) after each step",
                number,
                metric,
            )
            return
        effect = f"the pruner compares {reported} instead" if is_compared else "no trial is stopped early"
        LOG.warning(
            "trial %d reports %s, and not %r: %s; report %s=..., or say with metric= and direction= which one counts",
            number,
            reported,
            metric,
            effect,
            metric,
        )

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
