"""Trials are read like runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from hopyard.codec.records import encode_file
from hopyard.errors import RunNotFound
from hopyard.store import Project
from hopyard.tracking import (
    NodeWriter,
    RunId,
    RunReader,
    RunState,
    RunWriter,
    TrialRecord,
    TrialState,
    find_run,
    run_paths,
)

pytestmark = pytest.mark.unit
Begin = Callable[..., RunWriter]
FOLDER = "generation.2/x=1"


def trial_of(run: RunWriter) -> RunId:
    return replace(run.id, trial=FOLDER)


def print_lines(project: Project, run_id: RunId, *lines: str, attempt: int = 0) -> None:
    with NodeWriter(project, run_id, 0, attempt) as node:
        for line in lines:
            node.log(line)


def put(project: Project, run_id: RunId, state: TrialState, attempt: int = 0) -> None:
    record = TrialRecord(
        number=1, params={"x": 1}, state=state, folder=FOLDER, attempt=attempt, started=1010.0, ended=1020.0
    )
    project.put(run_paths(project, run_id).trial_record, encode_file(record))


def test_a_trial_that_is_under_way_is_as_alive_as_its_study(project: Project, begin: Begin) -> None:
    study = begin()
    print_lines(project, trial_of(study), "first")
    reader = RunReader(project, trial_of(study))
    assert (reader.record().state, reader.record().nodes) == (RunState.RUNNING, 1)
    assert reader.state(now=9e9) is RunState.LOST
    study.finish(RunState.KILLED)
    assert reader.record().state is RunState.KILLED


@pytest.mark.parametrize(
    ("state", "seen"),
    [
        (TrialState.FINISHED, RunState.FINISHED),
        (TrialState.PRUNED, RunState.FINISHED),
        (TrialState.FAILED, RunState.FAILED),
    ],
)
def test_a_trial_that_has_ended_says_how(
    project: Project, begin: Begin, state: TrialState, seen: RunState
) -> None:
    study = begin()
    print_lines(project, trial_of(study), "first")
    put(project, trial_of(study), state)
    record = RunReader(project, trial_of(study)).record()
    assert (record.state, record.started, record.ended) == (seen, 1010.0, 1020.0)


def test_a_trial_that_is_tried_again_has_not_ended(project: Project, begin: Begin) -> None:
    study = begin()
    print_lines(project, trial_of(study), "first")
    put(project, trial_of(study), TrialState.FAILED)
    print_lines(project, trial_of(study), "second", attempt=1)
    reader = RunReader(project, trial_of(study))
    assert (reader.record().state, reader.record().attempts) == (RunState.RUNNING, 2)
    put(project, trial_of(study), TrialState.FINISHED, attempt=1)
    assert (reader.record().state, reader.record().attempts) == (RunState.FINISHED, 2)
    assert list(reader.follow()) == ["first", "second"]


def test_a_trial_that_is_a_run_of_its_own_has_its_own_record(project: Project, begin: Begin) -> None:
    study = begin()
    begin(trial=trial_of(study), name="of the trial", nodes=3)
    assert RunReader(project, trial_of(study)).record().name == "of the trial"


@pytest.mark.parametrize("text", ["last", "digits", "run.1", "app-1/launcher/run.1"])
def test_a_trial_is_found_by_its_study_and_its_folder(project: Project, begin: Begin, text: str) -> None:
    study = begin()
    print_lines(project, trial_of(study), "first")
    assert find_run(project, f"{text}/{FOLDER}").id == trial_of(study)


@pytest.mark.parametrize("text", ["last/x=2", "digits/", "nobody/x=1"])
def test_what_is_no_trial_is_not_found(project: Project, begin: Begin, text: str) -> None:
    print_lines(project, trial_of(begin()), "first")
    with pytest.raises(RunNotFound):
        find_run(project, text)


def test_a_trial_without_a_folder_is_not_there(project: Project, begin: Begin) -> None:
    study = begin()
    with pytest.raises(RunNotFound):
        RunReader(project, trial_of(study)).record()
