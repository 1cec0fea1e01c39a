"""Optuna's journal in the project: what its storage writes line by line, on any store."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable
from typing import Any

from optuna.storages import JournalStorage
from optuna.storages.journal import BaseJournalBackend
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState

from hopyard.store import Journal
from hopyard.tracking import Direction

OPTUNA_DIRECTIONS = {Direction.MAX: StudyDirection.MAXIMIZE, Direction.MIN: StudyDirection.MINIMIZE}
WAITING = (TrialState.WAITING,)


class JournalBackend(BaseJournalBackend):
    """What Optuna's ``JournalStorage`` needs to keep a study in a journal that only this process writes.

    Optuna's own file backend looks at the file again for each operation, waits for the disk, and holds a lock that
    a killed process never gives back. Here the storage gets back what it wrote from memory, and whoever
    answers for the study commits the journal.

    Args:
        written: The lines that are there already.
        journal: Takes new lines; None for a study that is only looked at.
    """

    def __init__(self, written: Iterable[bytes], journal: Journal | None = None) -> None:
        self._unread = [json.loads(line) for line in written]
        self._first = 0
        self._journal = journal

    def read_logs(self, log_number_from: int) -> list[dict[str, Any]]:
        """Returns the operations that the storage has not seen yet."""
        if log_number_from != self._first:
            raise LookupError(f"operation {log_number_from} was asked for; the next one is {self._first}")
        unread, self._unread = self._unread, []
        self._first += len(unread)
        return unread

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        """Takes operations; they are safe once the journal has been committed."""
        for log in logs:
            line = json.dumps(log, separators=(",", ":"))
            if self._journal is not None:
                self._journal.append(line.encode())
            self._unread.append(json.loads(line))  # as a reader of the journal would get it


class StudyStorage(JournalStorage):
    """Optuna's storage of a study in a journal that only this process writes.

    Before each new trial Optuna looks through all of the study for some that wait. It gets these from a list here:
    a trial costs the same in a long study as in a short one.

    Args:
        backend: The journal.
    """

    def __init__(self, backend: JournalBackend) -> None:
        super().__init__(backend)
        self._queued: dict[int, list[int]] = {}  # by study; of those that were asked for

    def create_new_trial(self, study_id: int, template_trial: FrozenTrial | None = None) -> int:
        """Returns the id of a new trial."""
        trial_id = super().create_new_trial(study_id, template_trial)
        if study_id in self._queued and template_trial is not None and template_trial.state in WAITING:
            self._queued[study_id].append(trial_id)
        return trial_id

    def get_all_trials(
        self,
        study_id: int,
        deepcopy: bool = True,  # noqa: FBT001, FBT002  Optuna's own signature
        states: Container[TrialState] | None = None,
    ) -> list[FrozenTrial]:
        """Returns the trials of a study."""
        if states != WAITING or deepcopy:
            return super().get_all_trials(study_id, deepcopy, states)
        if study_id in self._queued:
            queued = map(self.get_trial, self._queued[study_id])
            waiting = [trial for trial in queued if trial.state in WAITING]
        else:
            waiting = super().get_all_trials(study_id, deepcopy, states)
        self._queued[study_id] = [trial._trial_id for trial in waiting]  # noqa: SLF001  what storages call it
        return waiting
