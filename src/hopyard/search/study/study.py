"""`Study`: what came of a search."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

import optuna
from optuna.storages import JournalStorage

from hopyard.errors import InvalidSearch, NothingFound
from hopyard.search.study.optuna_journal import OPTUNA_DIRECTIONS, JournalBackend
from hopyard.search.study.quiet import quiet_optuna
from hopyard.search.study.trials import record_of
from hopyard.store import Project, read_journal
from hopyard.tracking import RunId, TrialRecord, TrialState, find_study, run_paths, study_record
from hopyard.tracking.trials import TIMES

if TYPE_CHECKING:
    import pandas as pd

OWN_COLUMNS = (f"user_attrs_{TIMES}", "system_attrs_hopyard:")  # times are in the columns of dates


class Study:
    """The trials of a search and the best of them, under Optuna's names.

    Args:
        project: Where it is kept.
        run_id: The run that carried it.
        optuna_study: The study as Optuna knows it.
    """

    def __init__(self, project: Project, run_id: RunId, optuna_study: optuna.Study) -> None:
        self._project = project
        self._run_id = run_id
        self._study = optuna_study

    @classmethod
    def load(cls, what: str = "last", *, project: Project | None = None) -> Study:
        """Returns a study of the project, as far as it has got; it may still be under way.

        Args:
            what: Its name, its run id or the end of that; ``last`` for the newest study.
            project: Where to look; `Project.open` with its defaults if not given.

        Raises:
            NoSuchStudy: There is no such study; the error lists those that there are.
            AmbiguousRun: Several runs answer to it.
            CorruptRecord: Its record cannot be understood.
        """
        project = project or Project.open()
        run_id = find_study(project, what)
        lines = read_journal(project, run_paths(project, run_id).study_journal)
        record = study_record(project, run_id)
        assert record is not None
        with quiet_optuna():
            # a study whose driver was killed at its first step has no journal; for the reader it begins here
            study = optuna.create_study(
                storage=JournalStorage(JournalBackend(lines)),
                study_name=str(run_id),
                directions=[OPTUNA_DIRECTIONS[direction] for direction in record.directions],
                load_if_exists=True,
            )
        return cls(project, run_id, study)

    def __repr__(self) -> str:
        return f"Study({str(self._run_id)!r}, {len(self.trials)} trials)"

    @property
    def run_id(self) -> str:
        """The run that carried the study, as `hopyard runs` lists it."""
        return str(self._run_id)

    @property
    def logdir(self) -> str:
        """The study's folder in the project."""
        return self._project.url(run_paths(self._project, self._run_id).folder)

    @property
    def optuna_study(self) -> optuna.Study:
        """The study as Optuna has it, for its plots and importances."""
        return self._study

    @cached_property
    def trials(self) -> tuple[TrialRecord, ...]:
        """All trials, by number."""
        return tuple(map(record_of, self._study.get_trials(deepcopy=False)))

    @property
    def best_trial(self) -> TrialRecord:
        """The trial with the best value.

        Raises:
            NothingFound: No trial has ended with a value.
            InvalidSearch: There are several objectives; look at `best_trials`.
        """
        if len(self._study.directions) > 1:
            raise InvalidSearch("with several metrics there is no single best trial", "Use best_trials")
        if not any(trial.values and trial.state.value == "FINISHED" for trial in self.trials):
            failed = (trial for trial in self.trials if trial.state is TrialState.FAILED)
            texts = (f"Trial {trial.number} failed: {trial.error or trial.error_type}" for trial in failed)
            raise NothingFound("best trial", self.run_id, len(self.trials), next(texts, ""))
        return record_of(self._study.best_trial)

    @property
    def best_trials(self) -> tuple[TrialRecord, ...]:
        """The trials that no other one beats in all objectives."""
        return tuple(map(record_of, self._study.best_trials))

    @property
    def best_value(self) -> float:
        """The value of the best trial; raises as `best_trial`."""
        value = self.best_trial.value
        assert value is not None
        return value

    @property
    def best_params(self) -> Mapping[str, Any]:
        """The parameters of the best trial; raises as `best_trial`."""
        return self.best_trial.params

    @property
    def best_logdir(self) -> str:
        """The folder of the best trial in the project; raises as `best_trial`."""
        return self.trial_logdir(self.best_trial)

    def trial_logdir(self, trial: TrialRecord) -> str:
        """Returns the folder of a trial in the project: its log, events, metrics and files."""
        folder = run_paths(self._project, self._run_id).inner(trial.folder).folder
        return self._project.url(folder)

    def trials_dataframe(self) -> pd.DataFrame:
        """Returns all trials as a pandas DataFrame, with Optuna's columns, without what only Hopyard needs.

        Times are those of the attempt that counts: neither the pause before a study was resumed nor an attempt that was
        lost is part of a trial's duration.
        """
        table = self._study.trials_dataframe()
        for column, times in (("datetime_start", "started"), ("datetime_complete", "ended")):
            if column in table:
                table[column] = [_local_time(getattr(trial, times)) for trial in self.trials]
        if "duration" in table:
            table["duration"] = table["datetime_complete"] - table["datetime_start"]
        return table[[column for column in table if not column.startswith(OWN_COLUMNS)]]


def _local_time(seconds: float | None) -> pd.Timestamp | None:
    """Returns a time as Optuna has it: that of this place, without a zone."""
    import pandas as pd  # Optuna needs it for tables, too

    return None if seconds is None else pd.Timestamp(datetime.fromtimestamp(seconds))  # noqa: DTZ006
