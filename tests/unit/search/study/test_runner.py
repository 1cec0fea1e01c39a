from __future__ import annotations

import os
import pickle
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from optuna.pruners import NopPruner

from hopyard.backends.base import Crew
from hopyard.codec.records import encode_file
from hopyard.control.service import PoolService
from hopyard.errors import BackendFailed, StudyBusy, StudyFailed
from hopyard.protocol.assignment import Assignment
from hopyard.protocol.messages import AskTrial
from hopyard.search.options import SearchSpec
from hopyard.search.samplers.fixed_rows import RowsSampler
from hopyard.search.space.parameters import Range
from hopyard.search.space.space import Space
from hopyard.search.study.runner import StudyPlan, StudyRunner
from hopyard.search.study.study import Study
from hopyard.store import Journal, Project
from hopyard.tracking import (
    NodeWriter,
    RunId,
    RunReader,
    RunRecord,
    RunState,
    TrialRecord,
    TrialState,
    find_run,
    newest_study,
    run_paths,
    study_record,
)
from hopyard.worker.gpus.request import DeviceRequest

pytestmark = pytest.mark.unit

TRIALS = 4
ROWS = [{"x": number} for number in range(TRIALS)]
Work = Callable[..., float]


class Gone:
    """Slots that have done their work."""

    have_left = False
    refusal = None

    def watch(self) -> None:
        """Finds nothing wrong."""

    def close(self, patience: float) -> None:
        """Has nothing to wait for."""


class HereAndNow:
    """Runs all trials in this thread, one after the other."""

    name = "here"
    application = "app"
    encrypts = False

    def __init__(self, work: Work) -> None:
        self._work = work
        self.given: list[Assignment] = []

    def room(self, devices: DeviceRequest) -> int:
        return 1

    def start(self, crew: Crew, service: PoolService) -> Gone:
        ended = None
        while True:
            answer = service.ask(AskTrial(number=0, incarnation="a", host=socket.gethostname(), ended=ended))
            if answer.leave is not None:
                return Gone()
            assert answer.trial is not None
            self.given.append(answer.trial)
            ended = self._run(answer.trial)

    def _run(self, trial: Assignment) -> TrialRecord:
        try:
            value = self._work(**pickle.loads(trial.arguments))
        except ArithmeticError as error:
            return record_of(trial, state=TrialState.FAILED, error=str(error), traceback=f"in work: {error}")
        return record_of(trial, state=TrialState.FINISHED, values=(value,))


def record_of(trial: Assignment, **fields: Any) -> TrialRecord:
    return TrialRecord(
        number=trial.number, params=trial.params, folder=trial.folder, attempt=trial.attempt, **fields
    )


class Killed(BaseException):
    """Ends a driver in mid-study."""


def square(x: int) -> float:
    return float(x * x)


def die_at_2(x: int) -> float:
    if x == 2:
        raise Killed
    return square(x)


def fail(x: int) -> float:
    raise ArithmeticError(f"no weights in layer {x}")


@pytest.fixture(params=["file", "memory"])
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Project:
    root = str(tmp_path) if request.param == "file" else f"memory://runner-{os.urandom(4).hex()}"
    return Project.open(root, "p")


def run(project: Project, backend: HereAndNow, *, earlier: RunRecord | None = None) -> Study:
    plan = StudyPlan(
        spec=SearchSpec.of(TRIALS, {}),
        space=Space.of({"x": Range(0, TRIALS)}),
        sampler=RowsSampler(ROWS),
        pruner=NopPruner(),
        payload=b"",
        project=project,
        backend=backend,
        parallel=1,
        name="squares",
        kind="search",
        earlier=earlier,
        progress=False,
    )
    return StudyRunner(plan).run()


class LooksFirst(HereAndNow):
    """Looks the study up as another program would, before there is a trial."""

    def __init__(self, project: Project) -> None:
        super().__init__(square)
        self._project = project
        self.seen: list[Study] = []

    def start(self, crew: Crew, service: PoolService) -> Gone:
        self.seen.append(Study.load("squares", project=self._project))
        return super().start(crew, service)


def test_a_study_that_is_just_starting_can_be_read(project: Project) -> None:
    backend = LooksFirst(project)
    run(project, backend)
    assert [study.trials for study in backend.seen] == [()]


def resume(project: Project, backend: HereAndNow) -> Study:
    return run(project, backend, earlier=newest_study(project, "squares"))


@contextmanager
def killed() -> Iterator[None]:
    with pytest.raises(Killed):
        yield


def the_run(project: Project) -> RunReader:
    return find_run(project, "squares")


def store_record(project: Project, run_id: RunId, record: TrialRecord) -> None:
    """Leaves what a slot leaves of a trial whose driver has died before it heard of it."""
    path = run_paths(project, run_id).inner(record.folder).trial_record
    project.put(path, encode_file(record))


def test_a_study_is_on_record_with_its_best_trial(project: Project) -> None:
    study = run(project, HereAndNow(square))
    assert [trial.value for trial in study.trials] == [0.0, 1.0, 4.0, 9.0]
    record = the_run(project).record()
    assert (record.state, record.value, record.backend) == (RunState.FINISHED, "9", "here")
    found = study_record(project, record.id)
    assert found is not None
    assert (found.counts, found.best_trial, found.best_value) == ({"FINISHED": 4}, 3, 9.0)
    assert (found.best_folder, found.trials, found.sampler) == ("x=3", 4, "RowsSampler")


def test_a_study_that_is_interrupted_is_killed_on_record(project: Project) -> None:
    with killed():
        run(project, HereAndNow(die_at_2))
    record = the_run(project).record()
    assert (record.state, record.error) == (RunState.KILLED, "Killed")
    found = study_record(project, record.id)
    assert found is not None
    assert found.counts == {"FINISHED": 2, "RUNNING": 1}


def test_a_study_goes_on_with_what_was_under_way_and_keeps_what_has_ended(project: Project) -> None:
    with killed():
        run(project, HereAndNow(die_at_2))
    before = the_run(project).id
    backend = HereAndNow(square)
    study = resume(project, backend)
    assert [(trial.number, trial.attempt) for trial in backend.given] == [(2, 1), (3, 0)]
    assert [trial.value for trial in study.trials] == [0.0, 1.0, 4.0, 9.0]
    record = the_run(project).record()
    assert (record.id, record.state, record.attempts) == (before, RunState.FINISHED, 2)


def test_a_trial_that_ended_unheard_is_taken_as_ended(project: Project) -> None:
    first = HereAndNow(die_at_2)
    with killed():
        run(project, first)
    unheard = record_of(first.given[2], state=TrialState.FINISHED, values=(4.5,))
    store_record(project, the_run(project).id, unheard)
    backend = HereAndNow(square)
    study = resume(project, backend)
    assert [trial.number for trial in backend.given] == [3]
    assert [trial.value for trial in study.trials] == [0.0, 1.0, 4.5, 9.0]


def test_a_trial_that_failed_unheard_is_run_again(project: Project) -> None:
    first = HereAndNow(die_at_2)
    with killed():
        run(project, first)
    store_record(project, the_run(project).id, record_of(first.given[2], state=TrialState.FAILED))
    backend = HereAndNow(square)
    study = resume(project, backend)
    assert [trial.number for trial in backend.given] == [2, 3]
    assert {trial.state for trial in study.trials} == {TrialState.FINISHED}


def test_each_attempt_at_a_trial_has_a_number_of_its_own(project: Project) -> None:
    attempts = []
    for time in range(3):
        backend = HereAndNow(die_at_2)
        with killed():
            run(project, backend) if time == 0 else resume(project, backend)
        trial = backend.given[-1]
        attempts.append(trial.attempt)
        own = RunId("app", "search", 1, trial.folder)
        with NodeWriter(project, own, 0, trial.attempt) as node:
            node.log(f"attempt {trial.attempt}")
    assert attempts == [0, 1, 2]
    assert list(RunReader(project, own).log()) == ["attempt 0", "attempt 1", "attempt 2"]


def test_a_study_that_is_done_has_nothing_to_go_on_with(project: Project) -> None:
    run(project, HereAndNow(square))
    backend = HereAndNow(fail)
    study = resume(project, backend)
    assert backend.given == []
    assert len(study.trials) == TRIALS
    assert the_run(project).record().state is RunState.FINISHED


def test_a_study_that_another_driver_is_at_is_left_to_it(tmp_path: Path) -> None:
    project = Project.open(str(tmp_path), "p")
    with killed():
        run(project, HereAndNow(die_at_2))
    before = the_run(project).record()
    with (
        Journal(project, run_paths(project, before.id).study_journal),
        pytest.raises(StudyBusy, match="another program is running the study"),
    ):
        resume(project, HereAndNow(square))
    assert the_run(project).record() == before


class ResumesMeanwhile(HereAndNow):
    """While it runs the study, another driver tries to go on with it."""

    def __init__(self, project: Project, other: HereAndNow) -> None:
        super().__init__(square)
        self._project = project
        self._other = other
        self._before = newest_study(project, "squares")
        self.refused: list[StudyBusy] = []

    def start(self, crew: Crew, service: PoolService) -> Gone:
        with pytest.raises(StudyBusy) as caught:
            run(self._project, self._other, earlier=self._before)
        self.refused.append(caught.value)
        return super().start(crew, service)


def test_of_two_drivers_that_resume_a_study_at_once_one_goes_on(project: Project) -> None:
    with killed():
        run(project, HereAndNow(die_at_2))
    other = HereAndNow(square)
    backend = ResumesMeanwhile(project, other)
    study = resume(project, backend)
    assert len(backend.refused) == 1
    assert other.given == []
    assert [trial.value for trial in study.trials] == [0.0, 1.0, 4.0, 9.0]
    assert the_run(project).record().attempts == 2


def test_who_resumes_a_study_that_was_resumed_and_left_meanwhile_goes_on_from_there(project: Project) -> None:
    with killed():
        run(project, HereAndNow(die_at_2))
    before = the_run(project).record()
    with killed():
        resume(project, HereAndNow(die_at_2))
    run(project, HereAndNow(square), earlier=before)
    assert the_run(project).record().attempts == 3


def test_a_study_whose_trials_all_fail_raises_the_last_failure_and_can_be_taken_up_again(
    project: Project,
) -> None:
    with pytest.raises(StudyFailed, match="no weights in layer 2") as caught:
        run(project, HereAndNow(fail))
    assert caught.value.trace == "in work: no weights in layer 2"
    assert the_run(project).record().state is RunState.FAILED
    study = resume(project, HereAndNow(square))
    states = [trial.state for trial in study.trials]
    assert states == [TrialState.FAILED] * 3 + [TrialState.FINISHED]


class Breaks(HereAndNow):
    """Gives its slots up after the first trial."""

    def start(self, crew: Crew, service: PoolService) -> Gone:
        answer = service.ask(AskTrial(number=0, incarnation="a", host="here"))
        assert answer.trial is not None
        self.given.append(answer.trial)
        ended = self._run(answer.trial)
        service.ask(AskTrial(number=0, incarnation="a", host="here", ended=ended))
        service.give_up(BackendFailed("here", "it was stopped"))
        return Gone()


def test_a_study_whose_backend_breaks_raises_its_error_and_can_be_taken_up_again(project: Project) -> None:
    with pytest.raises(BackendFailed, match="it was stopped"):
        run(project, Breaks(square))
    assert the_run(project).record().state is RunState.FAILED
    backend = HereAndNow(square)
    study = resume(project, backend)
    assert [trial.number for trial in backend.given] == [1, 2, 3]
    assert [trial.value for trial in study.trials] == [0.0, 1.0, 4.0, 9.0]


class KeepsItsCrew(HereAndNow):
    """Keeps what it was asked for."""

    def start(self, crew: Crew, service: PoolService) -> Gone:
        self.crew = crew
        return super().start(crew, service)


def test_a_study_asks_for_a_slot_each_that_may_start_as_soon_as_there_is_room(project: Project) -> None:
    backend = KeepsItsCrew(square)
    run(project, backend)
    assert [member.number for member in backend.crew.members] == [0]
    assert (backend.crew.is_gang, backend.crew.detached) == (False, None)
    assert backend.crew.most_starts > 1
    assert backend.crew.work.describe([0]) == "hopyard: study squares, 1 at once"
