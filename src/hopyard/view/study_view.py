"""What a person sees of a study where it was started, while it goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from hopyard.interruption import explain
from hopyard.tracking import TrialRecord
from hopyard.view.presenter import LiveView
from hopyard.view.study_snapshot import StudySnapshot
from hopyard.view.study_status import StudyStatus


class StudyView:
    """Shows a study on standard error, and never stands in its way: if it breaks, the log says so.

    Args:
        progress: Whether it is shown; None for terminals and notebooks only.
        go_on: How a user goes on with the study after Ctrl-C: a note of the exception, which Python prints last.
    """

    def __init__(self, *, progress: bool | None, go_on: str = "") -> None:
        self._presenter = LiveView("study", progress=progress)
        self._go_on = go_on

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
        except KeyboardInterrupt as interrupt:
            if self._go_on:
                explain(interrupt, f"{what_is_kept(status())}\nGo on with: {self._go_on}")
            raise
        finally:
            self._presenter.close(is_over=True)


def what_is_kept(status: StudyStatus) -> str:
    """Returns a line for a user who has interrupted a study."""
    of_all = "" if status.total is None else f" of {status.total}"
    again = len(status.running)
    rest = f"; {again} under way will run again" if again else ""
    return f"Interrupted: {status.done}{of_all} trials of {status.title} have ended and are kept{rest}."


def _look(
    status: Callable[[], StudyStatus], failures: Callable[[], Sequence[TrialRecord]], *, is_over: bool
) -> StudySnapshot:
    return StudySnapshot.of(status(), failures(), is_over=is_over)
