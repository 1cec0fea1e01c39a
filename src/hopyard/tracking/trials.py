"""The trials of a study, read from its journal without Optuna, which takes longer to load than to read.

The journal is what the study decided: a trial that was given to another slot, or given up with its executor, has no record
of that in its folder, or a wrong one. The lines are those of Optuna's ``JournalStorage``; the
few that matter here are read, and others passed over.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any

from hopyard.errors import CorruptRecord
from hopyard.store import Project, read_journal
from hopyard.tracking.listing import Listing
from hopyard.tracking.paths import run_paths
from hopyard.tracking.records import TrialRecord
from hopyard.tracking.runid import RunId
from hopyard.tracking.states import TrialState

# What Hopyard keeps of a trial in the user attributes that Optuna has for it.
FOLDER, HOST, ERROR, ERROR_TYPE, RESULT, NO_VALUE, ATTEMPT, TIMES = (
    "folder",
    "host",
    "error",
    "error_type",
    "result",
    "no_value",
    "attempt",
    "times",
)

# Optuna's codes of operations and of states, as its journals have them.
_CREATE, _PARAMETER, _STATE, _ATTRIBUTE = 4, 5, 6, 8
_STATES = {
    0: TrialState.RUNNING,
    1: TrialState.FINISHED,
    2: TrialState.PRUNED,
    3: TrialState.FAILED,
    4: TrialState.WAITING,
}
_UNDER_WAY = (TrialState.RUNNING, TrialState.WAITING)
_External = Callable[[Any], Any]


@dataclass(slots=True, kw_only=True)
class JournaledTrial:
    """A trial as Optuna knows it: what its operations have made of it so far.

    Attributes:
        number: Counts the trials of the study, from 0.
        state: How it stands.
        started: When it was asked for, in seconds since the epoch.
        ended: When it was told.
        values: What it was told with, or what it reported last; None if nothing.
        params: The values of its parameters.
        attributes: What Hopyard keeps with it.
    """

    number: int
    state: TrialState = TrialState.RUNNING
    started: float | None = None
    ended: float | None = None
    values: Sequence[float] | None = None
    params: dict[str, Any] = field(default_factory=dict)
    attributes: dict[str, Any] = field(default_factory=dict)

    def to_record(self) -> TrialRecord:
        """Returns it as a record; times are those of the attempt that counts, where these are known."""
        attributes = self.attributes
        is_valued = self.state is TrialState.FINISHED or (
            self.state is TrialState.PRUNED and not attributes.get(NO_VALUE) and self.values is not None
        )
        started, ended = attributes.get(TIMES) or (self.started, self.ended)
        return TrialRecord(
            number=self.number,
            params=dict(self.params),
            state=TrialState.FINISHED if attributes.get(NO_VALUE) else self.state,
            values=tuple(self.values or ()) if is_valued else (),
            result=attributes.get(RESULT, {}),
            folder=attributes.get(FOLDER, ""),
            attempt=attributes.get(ATTEMPT, 0),
            host=attributes.get(HOST, ""),
            started=started,
            ended=ended,
            error_type=attributes.get(ERROR_TYPE),
            error=attributes.get(ERROR),
        )


def read_trials(project: Project, run_id: RunId | str) -> Listing[TrialRecord]:
    """Returns all trials of a study by number, as far as it has got, and lines of its journal that cannot be understood.

    A trial's traceback and slot are only in its own record, which `trial_record` reads.
    """
    return TrialsReader(project, run_id).read()


class TrialsReader:
    """Reads the trials of a study again and again, and understands each line of its journal once; threads may share it.

    Args:
        project: Where the study is kept.
        run_id: The run that carries it.
    """

    def __init__(self, project: Project, run_id: RunId | str) -> None:
        self._project = project
        self._path = run_paths(project, run_id).study_journal
        self._journaled = _Journaled(self._path)
        self._lock = threading.Lock()

    def read(self) -> Listing[TrialRecord]:
        """Returns all trials by number, as they stand now; see `read_trials`."""
        lines = list(read_journal(self._project, self._path))
        with self._lock:
            if len(lines) < self._journaled.lines:  # another study is there now
                self._journaled = _Journaled(self._path)
            self._journaled.apply(lines)
            return self._journaled.listing()


class _Journaled:
    """What a journal says so far."""

    def __init__(self, path: str) -> None:
        self.lines = 0
        self._path = path
        self._trials: list[JournaledTrial] = []
        self._records: dict[int, TrialRecord] = {}
        self._corrupt: list[CorruptRecord] = []
        self._externals: dict[str, _External] = {}  # there are few distributions, and many lines with each

    def apply(self, lines: Sequence[bytes]) -> None:
        """Takes all lines of the journal, of which it has had the first before."""
        for line in islice(lines, self.lines, None):
            self.lines += 1
            try:
                self._apply(json.loads(line))
            except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
                where = f"{self._path}, line {self.lines}"
                self._corrupt.append(CorruptRecord(where, f"{type(error).__name__}: {error}"))

    def listing(self) -> Listing[TrialRecord]:
        """Returns the trials as they stand."""
        for trial in self._trials:
            if trial.number not in self._records:
                self._records[trial.number] = trial.to_record()
        return Listing(tuple(self._records[trial.number] for trial in self._trials), tuple(self._corrupt))

    def _apply(self, operation: Mapping[str, Any]) -> None:
        code = operation["op_code"]
        if code == _CREATE:
            self._trials.append(self._created(operation))
            return
        if code not in (_PARAMETER, _STATE, _ATTRIBUTE):
            return
        trial = self._trials[_index(operation["trial_id"])]
        if trial.state not in _UNDER_WAY:
            return  # Optuna refuses to change what has ended
        if code == _PARAMETER:
            external = self._external(operation["distribution"])
            trial.params[operation["param_name"]] = external(operation["param_value_internal"])
        elif code == _ATTRIBUTE:
            trial.attributes.update(operation["user_attr"])
        else:
            _change_state(trial, operation)
        self._records.pop(trial.number, None)

    def _created(self, operation: Mapping[str, Any]) -> JournaledTrial:
        distributions = operation.get("distributions", {})
        value = operation.get("value")
        return JournaledTrial(
            number=len(self._trials),
            state=_STATES[operation.get("state", 0)],
            started=_seconds(operation.get("datetime_start")),
            ended=_seconds(operation.get("datetime_complete")),
            values=operation.get("values") if value is None else [value],
            params={
                name: self._external(distributions[name])(value)
                for name, value in operation.get("params", {}).items()
            },
            attributes=dict(operation.get("user_attrs", {})),
        )

    def _external(self, distribution: str) -> _External:
        if distribution not in self._externals:
            self._externals[distribution] = _external_of(json.loads(distribution))
        return self._externals[distribution]


def _change_state(trial: JournaledTrial, operation: Mapping[str, Any]) -> None:
    state = _STATES[operation["state"]]
    if state is trial.state is TrialState.RUNNING:
        return  # somebody else had taken it
    if state is TrialState.RUNNING:
        trial.started = _seconds(operation["datetime_start"])
    if state not in _UNDER_WAY:
        trial.ended = _seconds(operation["datetime_complete"])
    trial.state = state
    if operation["values"] is not None:
        trial.values = operation["values"]


def _external_of(distribution: Mapping[str, Any]) -> _External:
    """Returns what turns a number in the journal into the value of a parameter."""
    name = str(distribution["name"])
    if name == "CategoricalDistribution":
        choices = distribution["attributes"]["choices"]
        return lambda place: choices[_index(int(place))]
    if name.startswith("Int"):
        return int
    if name in _FLOATS:
        return _same
    raise ValueError(f"{name!r:.80} is no distribution that this version knows")


# the last three are those of Optuna before version 3
_FLOATS = (
    "FloatDistribution",
    "UniformDistribution",
    "LogUniformDistribution",
    "DiscreteUniformDistribution",
)


def _same(value: Any) -> Any:
    return value


def _index(place: int) -> int:
    """Returns a place in a list; a negative one would mean another place to Python."""
    if place < 0:
        raise IndexError(place)
    return place


def _seconds(moment: str | None) -> float | None:
    return None if moment is None else datetime.fromisoformat(moment).timestamp()
