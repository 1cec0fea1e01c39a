"""A study at one moment, and the words for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from hopyard.tracking import TrialRecord, TrialState
from hopyard.view.frame import MOST_ROWS, printable
from hopyard.view.run_snapshot import metrics

if TYPE_CHECKING:
    from rich.console import ConsoleRenderable

    from hopyard.view.study_status import RunningTrial, StudyStatus

MOST_KINDS = 10
LONGEST_VALUE = 30
LONGEST_ERROR = 160
FINISHED, RUNNING, STOPPED, FAILED = "finished", "running", "stopped", "failed"
LEAST_SECONDS = 7.5
MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BestTrial:
    """The best trial so far, in words.

    Attributes:
        number: Which trial.
        value: Its value and what that is, such as ``accuracy = 0.97``.
        params: Its parameters.
    """

    number: int
    value: str
    params: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRow:
    """A trial that is under way, in words.

    Attributes:
        number: Which trial.
        slot: The slot that runs it.
        host: The machine; empty if all trials run on the same one.
        params: Its parameters.
        step: The last step that it reported.
        metrics: The last values that it reported.
        seconds: How long it has been running.
    """

    number: int
    slot: int
    host: str
    params: tuple[str, ...]
    step: int | None
    metrics: tuple[str, ...]
    seconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StudySnapshot:
    """What there is to show of a study; two that look the same are equal.

    Attributes:
        title: The study's run.
        seconds: How long it has been going on.
        total: How many trials there are to be; None for no limit.
        done: How many have ended.
        counts: How many are in each state that one of them is in.
        left: How long it will take, in words; nothing if nobody knows.
        best: The best trial so far; None if there is none.
        direction: Which values count as better; nothing if that was said by the user.
        rows: The first of those that are under way.
        failures: What went wrong first in each way in which trials fail.
        has_slots: Whether there are slots to run trials.
        is_over: Whether the study has ended.
    """

    title: str
    seconds: int
    total: int | None
    done: int
    counts: Mapping[str, int] = field(default_factory=dict)
    left: str = ""
    best: BestTrial | None = None
    direction: str = ""
    rows: tuple[TrialRow, ...] = ()
    failures: tuple[str, ...] = ()
    has_slots: bool = True
    is_over: bool = False

    @classmethod
    def of(cls, status: StudyStatus, failures: Sequence[TrialRecord] = (), *, is_over: bool = False) -> Self:
        """Returns what a person sees of a status.

        Args:
            status: How the study is doing.
            failures: The first trial that failed in each way.
            is_over: Whether the study has ended.
        """
        running = () if is_over else status.running
        has_hosts = len({trial.host for trial in running}) > 1
        return cls(
            title=printable(status.name) or status.title,
            seconds=int(status.seconds),
            total=status.total,
            done=status.done,
            counts=_counts(status.ended, len(running)),
            left="" if is_over else _left(status),
            best=_best(status),
            direction=_direction(status),
            rows=tuple(_row(trial, has_host=has_hosts) for trial in running[:MOST_ROWS]),
            failures=tuple(map(_failure, failures[:MOST_KINDS])),
            has_slots=status.slots > 0,
            is_over=is_over,
        )

    @property
    def progress(self) -> str:
        """How many trials have ended, and how many there are to be."""
        return f"{self.done} trials" if self.total is None else f"{self.done} of {self.total} trials"

    @property
    def waiting(self) -> str:
        """What the study waits for; nothing if it goes on, or has ended."""
        return "" if self.has_slots or self.is_over or self.done == self.total else "waiting for a slot"

    def table(self) -> ConsoleRenderable:
        """Returns the study as a table."""
        from hopyard.view.study_table import StudyTable  # rich takes a while to import

        return StudyTable(self)

    def news(self, earlier: Self | None) -> list[str]:
        """Returns a line for a best trial, for each new way to fail and for the end, since an earlier snapshot."""
        best, failures = (None, ()) if earlier is None else (earlier.best, earlier.failures)
        lines = [failure for failure in self.failures if failure not in failures]
        if self.best is not None and self.best != best:
            lines.append(
                f"best so far: trial {self.best.number}, {self.best.value}, {' '.join(self.best.params)}"
            )
        if self.is_over:
            lines.append(f"the study is over: {self._words}")
        return lines

    def summary(self) -> str:
        """Returns how far the study is, as a line; nothing once it has ended, which is news."""
        return "" if self.is_over else self.waiting or self._words

    @property
    def _words(self) -> str:
        counts = ", ".join(f"{count} {word}" for word, count in self.counts.items())
        best = "" if self.best is None else f"best is trial {self.best.number}, {self.best.value}"
        return "; ".join(filter(None, (self.progress, counts, best, self.left)))


def in_short(params: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns parameters as a person reads them: ``learning_rate=0.001`` and ``dropout=0.45``."""
    return tuple(f"{printable(name)}={_value(value)}" for name, value in params.items())


def time_left(seconds: float) -> str:
    """Returns how long something will take, as precisely as one can know."""
    if seconds < LEAST_SECONDS:
        return "a few seconds left"
    if seconds < MINUTE - 2.5:
        return f"about {5 * round(seconds / 5)} s left"
    if seconds < 1.5 * HOUR:
        return f"about {round(seconds / MINUTE)} min left"
    if seconds < 1.5 * DAY:
        return f"about {round(2 * seconds / HOUR) / 2:g} h left"
    return f"about {round(seconds / DAY)} days left"


def _counts(ended: Mapping[TrialState, int], running: int) -> dict[str, int]:
    counts = {
        FINISHED: ended.get(TrialState.FINISHED, 0),
        RUNNING: running,
        STOPPED: ended.get(TrialState.PRUNED, 0),
        FAILED: ended.get(TrialState.FAILED, 0),
    }
    return {word: count for word, count in counts.items() if count}


def _best(status: StudyStatus) -> BestTrial | None:
    if status.best_trial is None or status.best_value is None:
        return None
    value = f"{printable(status.objective)} = {status.best_value:.6g}"
    return BestTrial(number=status.best_trial, value=value, params=in_short(status.best_params))


def _direction(status: StudyStatus) -> str:
    """Returns which values count as better, where nobody said so and there are values."""
    if not status.is_assumed or status.best_trial is None:
        return ""
    return f"maximises {status.objective!r}; for a loss give direction='min'"


def _left(status: StudyStatus) -> str:
    """Returns how long the study will take; nothing before it had a trial for each slot: the first to end are short."""
    if status.left_seconds is None or status.done < status.slots:
        return ""
    return time_left(status.left_seconds)


def _row(trial: RunningTrial, *, has_host: bool) -> TrialRow:
    return TrialRow(
        number=trial.number,
        slot=trial.slot,
        host=trial.host if has_host else "",
        params=in_short(trial.params),
        step=trial.step,
        metrics=metrics(trial),
        seconds=int(trial.seconds),
    )


def _failure(record: TrialRecord) -> str:
    reason = record.error or record.error_type or "for no reason that is known"
    return f"trial {record.number} failed: {_cut(printable(reason), LONGEST_ERROR)}"


def _value(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else _cut(printable(str(value)), LONGEST_VALUE)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
