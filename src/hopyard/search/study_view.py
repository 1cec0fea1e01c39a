"""What a person sees of a study where it was started, while it goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from hopyard.search.status import StudyStatus
from hopyard.search.study_snapshot import StudySnapshot
from hopyard.tracking import TrialRecord
from hopyard.training.view_presenter import Presenter


class StudyView:
    """Shows a study on standard error, and never stands in its way: if it breaks, the log says so.

    Args:
        progress: Whether it is shown; None for terminals and notebooks only.
    """

    def __init__(self, *, progress: bool | None) -> None:
        self._presenter = Presenter("study", progress=progress)

    @contextmanager
    def showing(
        self,
        status: Callable[[], StudyStatus],
        failures: Callable[[], Sequence[TrialRecord]] = tuple,
    ) -> Iterator[None]:
        """Shows the study while open; how it stood when it was left stays to be seen.

        Args:
            status: Returns how the study is doing; called from another thread.
            failures: Returns the first trial that failed in each way; likewise.
        """
        self._presenter.open(partial(_look, status, failures))
        try:
            yield
        finally:
            self._presenter.close(is_over=True)


def _look(
    status: Callable[[], StudyStatus], failures: Callable[[], Sequence[TrialRecord]], *, is_over: bool
) -> StudySnapshot:
    return StudySnapshot.of(status(), failures(), is_over=is_over)
