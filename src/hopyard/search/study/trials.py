"""The trials of a study in Optuna's hands: which is next, what was heard of it, what came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import optuna
from optuna.trial import FrozenTrial
from optuna.trial import TrialState as OptunaState

from hopyard.protocol.assignment import Assignment
from hopyard.search.options import is_loss
from hopyard.search.samplers.own_sampler import OwnSampler
from hopyard.search.study.advice import StudyAdvice
from hopyard.store import trial_name
from hopyard.tracking import TrialRecord, TrialState
from hopyard.tracking.trials import (
    ATTEMPT,
    ERROR,
    ERROR_TYPE,
    FOLDER,
    HOST,
    NO_VALUE,
    RESULT,
    TIMES,
    JournaledTrial,
)

if TYPE_CHECKING:
    from hopyard.protocol.messages import Point
    from hopyard.search.space.space import SearchSpace

_STATES = {
    OptunaState.WAITING: TrialState.WAITING,
    OptunaState.RUNNING: TrialState.RUNNING,
    OptunaState.COMPLETE: TrialState.FINISHED,
    OptunaState.PRUNED: TrialState.PRUNED,
    OptunaState.FAIL: TrialState.FAILED,
}


class StudyTrials:
    """The `Trials` of an Optuna study; one thread at a time changes them, others may look at `best` and `ends`.

    Args:
        study: The study, new or with the trials that it has had.
        space: What the parameters may be.
        metric: The reported metric that a pruner goes by.
        advice: Says what a user wants to know of what the trials report and return.
    """

    def __init__(
        self, study: optuna.Study, space: SearchSpace, *, metric: str, advice: StudyAdvice | None = None
    ) -> None:
        self._study = study
        self._space = space
        self._metric = metric
        self._advice = advice or StudyAdvice(metric=metric)
        trials = study.get_trials(deepcopy=False)
        self._asked = len(trials)
        self._folders = {str(trial.user_attrs.get(FOLDER, "")) for trial in trials}
        self._running: dict[int, optuna.Trial] = {}
        self._reported: dict[int, int] = {}  # the last step, by the number of the trial
        self._best: FrozenTrial | None = None
        self._ends: Counter[TrialState] = Counter()  # a new one with each change
        for trial in trials:
            if trial.state.is_finished():
                self._count(trial)

    @property
    def asked(self) -> int:
        """How many trials there are, ended or not."""
        return self._asked

    @property
    def ends(self) -> Mapping[TrialState, int]:
        """How many trials have ended, by how."""
        return self._ends

    @property
    def best(self) -> FrozenTrial | None:
        """The best trial so far; None if none has ended well, or if there are several objectives."""
        return self._best

    def ask(self) -> Assignment | None:
        """Returns a new trial; None if there can be none before one that is under way has ended."""
        sampler = self._study.sampler
        if isinstance(sampler, OwnSampler) and not sampler.is_ready(self._study):
            return None
        return self._assign(self._study.ask())

    def unfinished(self) -> list[Assignment]:
        """Returns the trials that were under way when the study was left; they are to be run again."""
        states = (OptunaState.RUNNING, OptunaState.WAITING)
        trials = self._study.get_trials(deepcopy=False, states=states)
        for trial in trials:
            self._reported[trial.number] = max(trial.intermediate_values, default=-1)
        return [self._assign(optuna.Trial(self._study, trial._trial_id), again=True) for trial in trials]  # noqa: SLF001  Optuna's own way to take a trial up again

    def report(self, number: int, points: Sequence[Point]) -> bool:
        """Takes values that a trial reported; returns whether it is to be stopped."""
        trial = self._running[number]
        if len(self._study.directions) > 1:
            return False  # what is hopeless is told by one objective only
        is_new = False
        for step, metrics in points:
            value = self._objective(metrics)
            self._advice.report(number, metrics)
            # a trial that runs again says again what is known, up to where it was
            if value is not None and step > self._reported.get(number, -1):
                self._reported[number] = step
                trial.report(value, step)
                is_new = True
        # some pruners answer with a bool of numpy's, which is no JSON
        return is_new and bool(trial.should_prune())

    def tell(self, record: TrialRecord) -> None:
        """Takes what came of a trial.

        Raises:
            InvalidSearch: Its value is called like a loss, and nobody said that small values are better.
        """
        trial = self._running.pop(record.number)
        self._reported.pop(record.number, None)
        for name, value in _attributes(record).items():
            trial.set_user_attr(name, value)
        if record.state is TrialState.FINISHED and record.values:
            frozen = self._study.tell(trial, list(record.values))
        elif record.state is TrialState.FAILED:
            frozen = self._study.tell(trial, state=OptunaState.FAIL)
        else:
            frozen = self._study.tell(trial, state=OptunaState.PRUNED)
        self._count(frozen)
        self._advice.end(record, is_compared=bool(frozen.intermediate_values))

    def _assign(self, trial: optuna.Trial, *, again: bool = False) -> Assignment:
        self._space.suggest(trial)
        params = trial.params
        known = str(trial.user_attrs.get(FOLDER, "")) if again else ""  # Optuna copies them for whoever looks
        folder = known or self._folder(trial, params)
        self._running[trial.number] = trial
        self._asked = max(self._asked, trial.number + 1)
        return Assignment.of(
            trial.number,
            params=params,
            arguments=self._space.arguments(params),
            folder=folder,
            attempt=1 if again else 0,
        )

    def _folder(self, trial: optuna.Trial, params: Mapping[str, Any]) -> str:
        """Returns a folder that no other trial has: parameters may be tried twice."""
        name = trial_name(params)
        sampler = self._study.sampler
        group = sampler.group(_frozen(trial)) if isinstance(sampler, OwnSampler) else ""
        folder = f"{group}/{name}" if group else name
        if folder in self._folders:
            folder = f"{folder}.trial-{trial.number}"
        self._folders.add(folder)
        trial.set_user_attr(FOLDER, folder)
        return folder

    def _objective(self, metrics: Mapping[str, float]) -> float | None:
        if self._metric in metrics:
            return metrics[self._metric]
        if len(metrics) != 1:
            return None
        ((name, value),) = metrics.items()
        return None if self._is_maximised and is_loss(name) else value

    @property
    def _is_maximised(self) -> bool:
        return self._study.direction is optuna.study.StudyDirection.MAXIMIZE

    def _count(self, trial: FrozenTrial) -> None:
        self._ends = self._ends + Counter([_state(trial)])
        if trial.state is not OptunaState.COMPLETE or len(self._study.directions) > 1:
            return
        sign = 1 if self._is_maximised else -1
        if self._best is None or sign * (trial.value or 0.0) > sign * (self._best.value or 0.0):
            self._best = trial


def record_of(trial: FrozenTrial) -> TrialRecord:
    """Returns what Optuna knows of a trial as a record."""
    started, ended = (
        None if time is None else time.timestamp() for time in (trial.datetime_start, trial.datetime_complete)
    )
    return JournaledTrial(
        number=trial.number,
        state=_STATES[trial.state],
        started=started,
        ended=ended,
        values=trial.values,
        params=trial.params,
        attributes=trial.user_attrs,
    ).to_record()


def _state(trial: FrozenTrial) -> TrialState:
    return TrialState.FINISHED if trial.user_attrs.get(NO_VALUE) else _STATES[trial.state]


def _attributes(record: TrialRecord) -> dict[str, Any]:
    """Returns what is kept of a trial beside its values; what says nothing is left out."""
    told: dict[str, Any] = {
        HOST: record.host,
        RESULT: dict(record.result),
        ERROR: record.error,
        ERROR_TYPE: record.error_type,
        ATTEMPT: record.attempt,
        TIMES: [record.started, record.ended] if record.started and record.ended else None,
        NO_VALUE: record.state is TrialState.FINISHED and not record.values,
    }
    return {name: value for name, value in told.items() if value}


def _frozen(trial: optuna.Trial) -> FrozenTrial:
    return trial.study._storage.get_trial(trial._trial_id)  # noqa: SLF001  there is no public way to the attributes of a sampler
