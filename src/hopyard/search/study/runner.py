"""Sees a study through: from its record to its last trial, or on from where an earlier driver left it."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import optuna

from hopyard.backends.base import Crew
from hopyard.codec.records import decode, encode_file
from hopyard.control.queue import Queue
from hopyard.errors import HopyardError, PathNotFound, StudyFailed
from hopyard.frameworks.registry import driver_variables
from hopyard.run.announcement import Announcement
from hopyard.run.backend_choice import process_application_id
from hopyard.search.study.advice import StudyAdvice
from hopyard.search.study.optuna_journal import OPTUNA_DIRECTIONS, JournalBackend, StudyStorage
from hopyard.search.study.quiet import quiet_optuna
from hopyard.search.study.resume import open_journal
from hopyard.search.study.scheduler import TrialScheduler
from hopyard.search.study.study import Study
from hopyard.search.study.tensorboard_domains import study_events
from hopyard.search.study.trials import StudyTrials
from hopyard.search.trial.slot import SlotOrders
from hopyard.search.trial.slot_work import ClusterSlotWork, SlotWork
from hopyard.store import Journal, Project, read_journal
from hopyard.tensorboard.hparams import is_installed
from hopyard.tensorboard.live import LiveTensorBoard
from hopyard.tracking import RunReader, RunState, RunWriter, StudyRecord, TrialRecord, TrialState, run_paths
from hopyard.tracking.logs.node_log import log_attempts
from hopyard.tracking.trials import FOLDER
from hopyard.view.study_status import StudyStatus
from hopyard.view.study_view import StudyView
from hopyard.worker.periodic import Periodic, PeriodicThread
from hopyard.worker.task import driver_search_path
from hopyard.worker.work import Member

if TYPE_CHECKING:
    from optuna.pruners import BasePruner
    from optuna.samplers import BaseSampler

    from hopyard.backends.base import Backend
    from hopyard.protocol.assignment import Assignment
    from hopyard.search.options import SearchSpec
    from hopyard.search.space.space import SearchSpace
    from hopyard.search.trial.cluster_trials import Clusters
    from hopyard.tracking import RunRecord

TICK_SECONDS = 0.5  # Spark is asked after its tasks each time
RECORD_SECONDS = 5.0
LEAVE_SECONDS = 20.0
MOST_STARTS = 4
WELL = (TrialState.FINISHED, TrialState.PRUNED)


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyPlan:
    """All that a study is, before it begins.

    Attributes:
        spec: How it is run.
        space: What the parameters may be.
        sampler: What chooses the next trial.
        pruner: What stops hopeless trials.
        payload: What each trial runs, pickled.
        project: Where it is kept.
        backend: Where its slots are.
        clusters: What its trials are, if each is a distributed run; None for processes.
        parallel: How many slots there are.
        name: What it is called.
        kind: The folder of runs of its kind.
        description: Free text.
        earlier: The run to go on with; None for a new one.
        tensorboard: Whether a TensorBoard shows it while it goes on.
        tls: Whether its slots ask the driver over TLS.
        progress: Whether a table of the trials is shown; None for terminals and notebooks only.
        go_on: How a user goes on with the study after it was interrupted.
    """

    spec: SearchSpec
    space: SearchSpace
    sampler: BaseSampler
    pruner: BasePruner
    payload: bytes
    project: Project
    backend: Backend
    clusters: Clusters | None = None
    parallel: int
    name: str
    kind: str
    description: str = ""
    earlier: RunRecord | None = None
    tensorboard: bool = False
    tls: bool = False
    progress: bool | None = None
    go_on: str = ""

    @property
    def is_judged(self) -> bool:
        """Whether trials can be hopeless."""
        return not isinstance(self.pruner, optuna.pruners.NopPruner)


class StudyRunner:
    """Carries one study from its start to its recorded end.

    Args:
        plan: The study.
        clock: Seconds that only grow.
    """

    def __init__(self, plan: StudyPlan, clock: Callable[[], float] = time.monotonic) -> None:
        self._plan = plan
        self._clock = clock
        self._began = clock()
        self._earlier = plan.earlier

    def run(self) -> Study:
        """Returns the study once all its trials have ended and are on record.

        Raises:
            StudyFailed: Its trials fail.
            BackendFailed: There are no slots to run it any more.
            HopyardError: Whatever else ended it.
        """
        plan = self._plan
        with ExitStack() as resources:
            earlier = self._earlier
            journal = None if earlier is None else self._take_up(earlier, resources)
            run = self._run = resources.enter_context(self._begin())
            self._paths = run_paths(plan.project, run.id)
            journal = journal or resources.enter_context(open_journal(plan.project, run.record, attempt=0))
            self._open(journal)
            journal.commit()  # before the record: who finds that can read the journal
            self._save()
            self._events = study_events(plan.space, plan.spec.objectives)
            self._tell_tensorboard()
            resources.enter_context(self._housekeeper())
            if plan.tensorboard:
                url = plan.project.url(self._paths.folder)
                resources.enter_context(LiveTensorBoard(url, Announcement(run), project=plan.project))
            try:
                self._carry()
                if self._service.error is None:
                    self._service.settle()
            finally:
                journal.commit()
                self._save()
            self._finish()
        return Study(plan.project, run.id, self._study)

    def status(self) -> StudyStatus:
        """Returns how the study is doing."""
        now = self._clock()
        return self._service.look(partial(self._status, now))

    def _take_up(self, earlier: RunRecord, resources: ExitStack) -> Journal:
        """Returns the journal of the study to go on with, which nobody else can write from now on.

        Raises:
            StudyBusy: Another driver is at it.
        """
        project = self._plan.project
        journal = resources.enter_context(open_journal(project, earlier, attempt=earlier.attempts))
        self._earlier = RunReader(project, earlier.id).record()  # others may have had it before us
        return journal

    def _begin(self) -> RunWriter:
        plan = self._plan
        if self._earlier is not None:
            run = RunWriter.resume(plan.project, self._earlier, "the study was resumed")
            run.annotate(tls=plan.tls)
            return run
        return RunWriter.begin(
            plan.project,
            app_id=plan.backend.application or process_application_id(),
            kind=plan.kind,
            name=plan.name,
            nodes=plan.parallel,
            backend=plan.backend.name,
            description=plan.description,
            details={"tls": plan.tls},
        )

    def _open(self, journal: Journal) -> None:
        """Makes the study what it was, or new, and sets up what gives its trials to slots."""
        plan = self._plan
        written = read_journal(plan.project, self._paths.study_journal)
        with quiet_optuna():
            self._study = optuna.create_study(
                storage=StudyStorage(JournalBackend(written, journal)),
                study_name=str(self._run.id),
                sampler=plan.sampler,
                pruner=plan.pruner,
                directions=[OPTUNA_DIRECTIONS[direction] for direction in plan.spec.directions],
                load_if_exists=True,
            )
        if plan.earlier is not None:
            plan.sampler.reseed_rng()  # with the same seed it would suggest again what was tried
        metric = plan.spec.objectives[0]
        advice = StudyAdvice(metric=metric, is_assumed=plan.spec.is_assumed, is_judged=plan.is_judged)
        self._trials = StudyTrials(self._study, plan.space, metric=metric, advice=advice)
        waiting = [self._again(trial) for trial in self._trials.unfinished() if not self._has_ended(trial)]
        queue = Queue(plan.spec.rules, asked=self._trials.asked, waiting=waiting, now=self._clock())
        self._service = TrialScheduler(queue, self._trials, commit=journal.commit, clock=self._clock)

    def _has_ended(self, trial: Assignment) -> bool:
        """Tells whether a trial ended well while nobody was there to hear of it; the study then knows of it."""
        path = self._paths.inner(trial.folder).trial_record
        try:
            record = decode(TrialRecord, self._plan.project.read(path), path)
        except PathNotFound:
            return False
        if record.state not in WELL or record.number != trial.number:
            return False
        self._trials.tell(record)
        return True

    def _again(self, trial: Assignment) -> Assignment:
        """Returns the next attempt at a trial that was under way: its logs tell of those before."""
        attempts = log_attempts(self._plan.project, self._paths.inner(trial.folder), 0)
        return replace(trial, attempt=max(attempts, default=0) + 1)

    def _tell_tensorboard(self) -> None:
        """Writes the columns of TensorBoard's table of trials, where TensorBoard is installed."""
        if not is_installed():
            return
        columns = self._events.columns(created=self._run.record.started)
        self._plan.project.put(f"{self._paths.folder}/{columns.name}", columns.data)

    def _carry(self) -> None:
        slots = self._plan.backend.start(self._crew(), self._service)
        try:
            with StudyView(progress=self._plan.progress, go_on=self._plan.go_on).showing(
                self.status, self._failures
            ):
                while not self._service.tick():
                    if self._service.news.wait(TICK_SECONDS):
                        self._service.news.clear()
                    slots.watch()
        except BaseException as error:
            self._service.stop(f"the driver ended it: {error!r}")
            raise
        finally:
            slots.close(LEAVE_SECONDS)

    def _failures(self) -> tuple[TrialRecord, ...]:
        return self._service.look(lambda queue: queue.failures)

    def _crew(self) -> Crew:
        plan, orders = self._plan, self._orders()
        clusters = plan.clusters
        return Crew(
            work=SlotWork(orders=orders)
            if clusters is None
            else ClusterSlotWork(orders=orders, clusters=clusters),
            members=tuple(
                Member(number=number, devices=plan.spec.devices) for number in range(plan.parallel)
            ),
            most_starts=MOST_STARTS,
            tls=plan.tls,
        )

    def _orders(self) -> SlotOrders:
        plan, spec = self._plan, self._plan.spec
        return SlotOrders(
            run_id=self._run.id,
            study=plan.name,
            project=plan.project,
            payload=plan.payload,
            objectives=spec.objectives,
            search_path=driver_search_path(),
            environment=driver_variables(),
            lease_seconds=spec.rules.lease,
            trial_seconds=spec.trial_seconds,
            isolate=spec.isolate,
            is_judged=plan.is_judged,
            devices=spec.devices,
            events=self._events,
        )

    def _finish(self) -> None:
        """Says what became of the study.

        Raises:
            StudyFailed: Its trials fail.
        """
        error = self._service.error
        if isinstance(error, HopyardError):
            raise error.with_traceback(None)  # it tells its story; how a slot's thread came to it is noise
        if error is not None:
            raise error
        last = self._service.look(lambda queue: queue.hopeless)
        if last is not None:
            failed = self._trials.ends[TrialState.FAILED]
            raise StudyFailed(str(self._run.id), failed, last.error or "", last.traceback or "")
        best = self._trials.best
        self._run.finish(RunState.FINISHED, value=None if best is None else f"{best.value:.6g}")

    def _housekeeper(self) -> PeriodicThread:
        run = self._run
        return PeriodicThread(
            Periodic(run.heartbeat, run.record.heartbeat_seconds), Periodic(self._save, RECORD_SECONDS)
        )

    def _save(self) -> None:
        """Writes how far the study is."""
        record = self._service.look(self._record)
        self._plan.project.put(self._paths.study, encode_file(record))

    def _record(self, queue: Queue) -> StudyRecord:
        plan, spec, best = self._plan, self._plan.spec, self._trials.best
        running = sum(slot.trial is not None for slot in queue.slots)
        ended = {state.value: count for state, count in self._trials.ends.items()}
        return StudyRecord(
            run=self._run.id,
            objectives=spec.objectives,
            directions=spec.directions,
            sampler=type(plan.sampler).__name__,
            pruner=type(plan.pruner).__name__ if plan.is_judged else None,
            space=plan.space.to_json(),
            trials=spec.rules.trials,
            parallel=plan.parallel,
            counts={**ended, **({TrialState.RUNNING.value: running} if running else {})},
            best_trial=None if best is None else best.number,
            best_value=None if best is None else best.value,
            best_folder=None if best is None else best.user_attrs.get(FOLDER),
        )

    def _status(self, now: float, queue: Queue) -> StudyStatus:
        return StudyStatus.of(
            str(self._run.id),
            self._plan.spec.objectives[0],
            queue,
            self._trials,
            name=self._plan.name,
            total=self._plan.spec.rules.trials,
            seconds=now - self._began,
            now=now,
            is_assumed=self._plan.spec.is_assumed,
        )
