"""How a study is doing at one moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from hopyard.tracking import TrialState

if TYPE_CHECKING:
    from hopyard.control.queue import Queue
    from hopyard.search.study.trials import StudyTrials


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningTrial:
    """A trial that is under way.

    Attributes:
        number: Which trial.
        params: Its parameters.
        slot: The slot that runs it.
        host: The machine.
        seconds: How long it has been running.
        step: The last step that it reported.
        metrics: The last value of each metric.
    """

    number: int
    params: Mapping[str, Any]
    slot: int
    host: str
    seconds: float
    step: int | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyStatus:
    """What there is to tell of a study while it goes on.

    Attributes:
        title: The study's run.
        name: What its user calls it; empty if he did not say.
        objective: The name of what is compared.
        total: How many trials there are to be; None for no limit.
        ended: How many have ended, by how; those of earlier drivers included.
        running: Those that are under way, by slot.
        best_trial: Number of the best trial; None if there is none.
        best_value: Its value.
        best_params: Its parameters.
        seconds: How long it has been going on.
        left_seconds: How long it will take; None if nobody knows.
        slots: How many slots there are.
        is_assumed: Whether nobody said that large values are better, and they count as such.
    """

    title: str
    objective: str
    total: int | None
    ended: Mapping[TrialState, int]
    running: tuple[RunningTrial, ...] = ()
    best_trial: int | None = None
    best_value: float | None = None
    best_params: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    left_seconds: float | None = None
    slots: int = 0
    is_assumed: bool = False
    name: str = ""

    @property
    def done(self) -> int:
        """How many trials have ended."""
        return sum(self.ended.values())

    @classmethod
    def of(
        cls,
        title: str,
        objective: str,
        queue: Queue,
        trials: StudyTrials,
        *,
        total: int | None,
        seconds: float,
        now: float,
        is_assumed: bool = False,
        name: str = "",
    ) -> Self:
        """Returns how a study is doing; nobody may change it meanwhile."""
        best = trials.best
        ended = trials.ends
        here = sum(queue.ends.values())
        left = None if total is None or not here else (total - sum(ended.values())) * seconds / here
        return cls(
            title=title,
            objective=objective,
            total=total,
            ended=dict(ended),
            running=tuple(
                RunningTrial(
                    number=slot.trial.number,
                    params=slot.trial.params,
                    slot=slot.number,
                    host=slot.host,
                    seconds=now - slot.since,
                    step=slot.heartbeat.step,
                    metrics=slot.heartbeat.metrics,
                )
                for slot in queue.slots
                if slot.trial is not None
            ),
            best_trial=None if best is None else best.number,
            best_value=None if best is None else best.value,
            best_params={} if best is None else best.params,
            seconds=seconds,
            left_seconds=left,
            slots=len(queue.slots),
            is_assumed=is_assumed,
            name=name,
        )
