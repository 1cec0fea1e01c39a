from __future__ import annotations

import os
from pathlib import Path

import optuna
import pytest
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import TrialState

from hopyard.search.study.optuna_journal import JournalBackend, StudyStorage
from hopyard.search.study.quiet import quiet_optuna
from hopyard.store import Journal, Project, read_journal

pytestmark = pytest.mark.unit

PATH = "Logs/study.log"


@pytest.fixture(params=["file", "memory"])
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Project:
    root = str(tmp_path) if request.param == "file" else f"memory://optuna-{os.urandom(4).hex()}"
    return Project.open(root, "p")


def study_in(project: Project, journal: Journal) -> optuna.Study:
    storage = StudyStorage(JournalBackend(read_journal(project, PATH), journal))
    with quiet_optuna():
        return optuna.create_study(storage=storage, study_name="s", load_if_exists=True)


def try_one(study: optuna.Study, value: float) -> None:
    trial = study.ask()
    trial.suggest_float("x", 0, 1)
    trial.suggest_categorical("optimizer", ["sgd", "adam"])
    trial.report(value / 2, 1)
    trial.set_user_attr("folder", f"x={trial.number}")
    study.tell(trial, value)


def test_a_study_is_read_back_as_it_was_written(project: Project) -> None:
    with Journal(project, PATH) as journal:
        study = study_in(project, journal)
        try_one(study, 1.0)
        try_one(study, 2.0)
        journal.commit()
        read = optuna.load_study(
            study_name="s", storage=JournalStorage(JournalBackend(read_journal(project, PATH)))
        )
        assert read.trials == study.trials


def test_a_study_goes_on_in_another_process_as_in_this_one(project: Project) -> None:
    for value in (1.0, 2.0, 3.0):
        with Journal(project, PATH) as journal:
            try_one(study_in(project, journal), value)
    with Journal(project, PATH) as journal:
        trials = study_in(project, journal).trials
    assert [(trial.number, trial.value) for trial in trials] == [(0, 1.0), (1, 2.0), (2, 3.0)]


def test_what_was_not_committed_is_not_there_for_others(project: Project) -> None:
    with Journal(project, PATH) as journal:
        study = study_in(project, journal)
        journal.commit()
        try_one(study, 1.0)
        storage = JournalStorage(JournalBackend(read_journal(project, PATH)))
        assert optuna.load_study(study_name="s", storage=storage).trials == []
        assert len(study.trials) == 1


def test_a_trial_that_was_under_way_is_so_for_the_next_reader(project: Project) -> None:
    with Journal(project, PATH) as journal:
        study_in(project, journal).ask()
    with Journal(project, PATH) as journal:
        (trial,) = study_in(project, journal).trials
    assert trial.state is TrialState.RUNNING


def test_values_without_a_finite_number_come_back(project: Project) -> None:
    with Journal(project, PATH) as journal:
        try_one(study_in(project, journal), float("inf"))
    with Journal(project, PATH) as journal:
        (trial,) = study_in(project, journal).trials
    assert (trial.value, trial.intermediate_values) == (float("inf"), {1: float("inf")})


def test_optuna_reads_the_file_with_its_own_backend(tmp_path: Path) -> None:
    project = Project.open(str(tmp_path), "p")
    with Journal(project, PATH) as journal:
        study = study_in(project, journal)
        try_one(study, 1.0)
    local = project.local_path(PATH)
    theirs = optuna.load_study(study_name="s", storage=JournalStorage(JournalFileBackend(str(local))))
    assert theirs.trials == study.trials


def test_an_operation_is_never_skipped(project: Project) -> None:
    with Journal(project, PATH) as journal:
        backend = JournalBackend([b'{"op_code": 0}', b'{"op_code": 1}'], journal)
        assert len(backend.read_logs(0)) == 2
        backend.append_logs([{"op_code": 2}])
        with pytest.raises(LookupError, match="operation 0 was asked for; the next one is 2"):
            backend.read_logs(0)
        assert backend.read_logs(2) == [{"op_code": 2}]


def test_a_queued_trial_is_next_whenever_it_was_queued(project: Project) -> None:
    with Journal(project, PATH) as journal:
        study_in(project, journal).enqueue_trial({"x": 0.25})
    with Journal(project, PATH) as journal:
        study = study_in(project, journal)
        assert study.ask().suggest_float("x", 0, 1) == 0.25
        assert study.ask().number == 1
        study.enqueue_trial({"x": 0.5})
        study.enqueue_trial({"x": 0.75})
        assert [study.ask().suggest_float("x", 0, 1) for _ in range(2)] == [0.5, 0.75]
        assert study.ask().number == 4
        assert study.get_trials(states=(TrialState.WAITING,)) == []
