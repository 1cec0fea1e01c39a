"""The records of a project: frozen values, one per thing worth remembering.

A record is stored by `hopyard.codec.records`. Its ``schema`` counts the changes of its layout; fields that
a newer version added are kept in ``extra`` and written back, so that old code never erases what it
does not know.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hopyard.codec.json_value import Json
from hopyard.tracking.driver_process import DriverProcess
from hopyard.tracking.runid import RunId
from hopyard.tracking.states import Direction, NodeState, RunState, TrialState

# One late heartbeat is a slow store; this many in a row is a dead driver.
HEARTBEATS_UNTIL_LOST = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What all records share.

    Attributes:
        schema: Version of the record's layout, as found in the file.
        extra: Fields of the file that this version does not know, verbatim.
    """

    schema: int = 1
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord(Record):
    """What is known of one run; all times are seconds since the epoch.

    Attributes:
        id: Which run this is.
        name: The name that the user gave; need not be unique.
        description: Free text of the user.
        state: The state as written; `state_at` also knows LOST.
        backend: What the nodes run on: ``spark``, ``processes`` or ``inline``.
        nodes: How many nodes the run was planned with.
        user: Who started it.
        version: The Hopyard that wrote the record.
        started: When the run began.
        ended: When it ended; None while it runs.
        updated: The last heartbeat.
        heartbeat_seconds: The promised time between two heartbeats.
        error: One-paragraph summary of what went wrong.
        value: Printed form of what the training function returned.
        details: Whatever else the starter of the run wants to keep.
        roles: The role of each node, by rank; empty where nobody told.
        attempts: How many times the nodes were started.
        restarts: Why each attempt but the last one ended, in order.
        driver: The process that drives the run; see `DriverProcess`.
    """

    id: RunId
    name: str
    description: str = ""
    state: RunState
    backend: str
    nodes: int
    user: str
    version: str
    started: float
    ended: float | None = None
    updated: float
    heartbeat_seconds: float
    error: str | None = None
    value: str | None = None
    details: Mapping[str, Json] = field(default_factory=dict)
    roles: tuple[str, ...] = ()
    attempts: int = 1
    restarts: tuple[str, ...] = ()
    driver: Mapping[str, Json] = field(default_factory=dict)

    @property
    def app_id(self) -> str:
        """The Spark application that the run belongs to."""
        return self.id.app_id

    @property
    def kind(self) -> str:
        """What was started: ``launcher``, ``grid_search`` and the like."""
        return self.id.kind

    @property
    def number(self) -> int:
        """The run's number among those of its kind in its application."""
        return self.id.number

    @property
    def driver_process(self) -> DriverProcess | None:
        """The process that drives the run, or did; None if nobody told."""
        return DriverProcess.from_json(self.driver)

    @property
    def seconds_until_lost(self) -> float:
        """How long its driver may be silent."""
        return HEARTBEATS_UNTIL_LOST * self.heartbeat_seconds

    def state_at(self, now: float) -> RunState:
        """Returns the state as seen at `now` from this machine.

        LOST is a record that says RUNNING and has missed several heartbeats, or whose driver was a process of this
        machine that is gone.
        """
        if self.state is not RunState.RUNNING:
            return self.state
        driver = self.driver_process
        is_gone = driver is not None and driver.lives() is False
        return RunState.LOST if is_gone or now - self.updated > self.seconds_until_lost else self.state


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeOutcome(Record):
    """How one node of a run ended.

    Attributes:
        rank: The node's number in the run; 0 is the chief.
        role: ``chief``, ``worker``, ``ps`` or ``evaluator``.
        host: The machine it ran on.
        state: How it ended.
        exit_code: Exit code of its process; None where a signal ended it or it never started.
        signal: Number of the signal that ended its process.
        error_type: Class name of the exception that its function raised.
        message: Text of that exception, or what the supervisor has to say.
        traceback: The user's traceback.
        tail: The last lines of its output.
        started: When its process started.
        ended: When its process ended.
        attempt: Which start of the run's nodes this was, from 0.
        port_taken: Whether another process listened at its port when it had failed.
        kept: What its function left in the working folder of the executor, and is kept with the run.
        lost: What it left there, and is not kept; where it is, and why.
    """

    rank: int
    role: str
    host: str
    state: NodeState
    exit_code: int | None = None
    signal: int | None = None
    error_type: str | None = None
    message: str | None = None
    traceback: str | None = None
    tail: tuple[str, ...] = ()
    started: float
    ended: float
    attempt: int = 0
    port_taken: bool = False
    kept: str = ""
    lost: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricPoint(Record):
    """One value of a metric at one step, as a node reported it.

    Attributes:
        name: Which metric.
        step: When, as the training counts.
        value: How much.
        time: When, in seconds since the epoch.
        rank: The node that reported it.
        attempt: In which start of the run's nodes, from 0; steps may come again in a later one.
    """

    name: str
    step: int
    value: float
    time: float
    rank: int = 0
    attempt: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyRecord(Record):
    """What a search looks for and how far it is; its trials are in its journal and in folders of their own.

    Attributes:
        run: The run that carries the study.
        objectives: Names of the metrics that are optimised; mostly one.
        directions: Whether small or large values of each are better.
        sampler: What chooses the next trial.
        pruner: What stops hopeless trials; None for nothing.
        space: The parameters and where they may lie, in words for people.
        trials: How many trials were asked for; None for no limit.
        parallel: How many trials run at a time.
        counts: How many trials are in each state.
        best_trial: Number of the best finished trial so far; None if there is none, or several objectives.
        best_value: Its value.
        best_folder: Its folder in that of the run.
    """

    run: RunId
    objectives: tuple[str, ...]
    directions: tuple[Direction, ...]
    sampler: str
    pruner: str | None = None
    space: Mapping[str, Json]
    trials: int | None = None
    parallel: int
    counts: Mapping[str, Json] = field(default_factory=dict)
    best_trial: int | None = None
    best_value: float | None = None
    best_folder: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRecord(Record):
    """One trial of a study: its parameters and what came of them.

    Attributes:
        number: Counts the trials of the study, from 0.
        params: The values of the parameters.
        state: How the trial stands.
        values: One for each objective; none until known, or if the function returned none.
        result: What else the function returned, if it returned a mapping.
        returned_as: What the value is called where no metric was named: its key in the mapping, or the function.
        never_asked: Whether it was to be stopped early, and never asked whether to go on.
        folder: Its folder in that of the run.
        attempt: How often it was started before.
        slot: Number of the slot that ran it; None if it had a cluster of its own, or waits.
        host: The machine it ran on.
        started: When it was given out.
        ended: When its function had ended.
        error_type: Class name of what went wrong.
        error: What went wrong, in a sentence.
        traceback: The user's traceback.
    """

    number: int
    params: Mapping[str, Json]
    state: TrialState
    values: tuple[float, ...] = ()
    result: Mapping[str, Json] = field(default_factory=dict)
    returned_as: str = ""
    never_asked: bool = False
    folder: str = ""
    attempt: int = 0
    slot: int | None = None
    host: str = ""
    started: float | None = None
    ended: float | None = None
    error_type: str | None = None
    error: str | None = None
    traceback: str | None = None

    @property
    def value(self) -> float | None:
        """The value of the objective, or of the first one; None if there is none."""
        return self.values[0] if self.values else None
