from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from hopyard.errors import (
    AmbiguousRun,
    CorruptRecord,
    NotInTrash,
    RunIsRunning,
    RunNotFound,
    RunNumberTaken,
    StudyNameTaken,
)
from hopyard.store import Project
from hopyard.tracking import RunState, RunWriter, find_run, list_runs, run_paths
from hopyard.tracking.trash import find_removed, list_trash, remove_run, restore_run

pytestmark = pytest.mark.unit
Begin = Callable[..., RunWriter]
NOW = 2_000_000_000.0


def ended(begin: Begin, **changes: object) -> RunWriter:
    run = begin(**changes)
    run.finish(RunState.FINISHED)
    return run


def test_a_removed_run_is_gone_and_comes_back_with_all_its_files(project: Project, begin: Begin) -> None:
    run = ended(begin)
    folder = run_paths(project, run.id).folder
    project.put(f"{folder}/x=1/model", b"learnt")
    removed = remove_run(project, run.id, NOW)
    assert removed.removed == NOW
    assert not project.exists(folder)
    with pytest.raises(RunNotFound):
        find_run(project, str(run.id))
    assert [each.id for each in list_trash(project)] == [run.id]
    restore_run(project, removed)
    assert list_trash(project) == []
    assert project.list(project.layout.trash) == []
    assert [each.id for each in list_runs(project).runs] == [run.id]
    assert project.read(f"{folder}/x=1/model") == b"learnt"


def test_a_run_that_goes_on_stays(project: Project, begin: Begin) -> None:
    run = begin()
    with pytest.raises(RunIsRunning, match=str(run.id)):
        remove_run(project, run.id, 1001.0)
    assert list_trash(project) == []


def test_a_run_that_goes_on_stays_though_the_clock_here_is_years_ahead(
    project: Project, begin: Begin
) -> None:
    run = begin()
    with pytest.raises(RunIsRunning, match=str(run.id)):
        remove_run(project, run.id, NOW)


def test_a_run_whose_driver_has_fallen_silent_may_go(project: Project, begin: Begin) -> None:
    run = begin()
    record = project.local_path(run_paths(project, run.id).record)
    os.utime(record, (NOW / 2, NOW / 2))  # as if it had not been written since
    assert remove_run(project, run.id, NOW).name == "digits"


def test_a_damaged_run_may_go(project: Project, begin: Begin) -> None:
    run = begin()
    project.put(run_paths(project, run.id).record, b"{")
    assert remove_run(project, run.id, NOW).name == "damaged"
    assert find_removed(project, "damaged").id == run.id


def test_a_run_with_the_id_of_a_removed_one_is_not_replaced(project: Project, begin: Begin) -> None:
    removed = remove_run(project, ended(begin).id, NOW)
    again = ended(begin, name="again")
    assert again.id == removed.id
    with pytest.raises(RunNumberTaken, match=str(again.id)):
        restore_run(project, removed)


def study(project: Project, begin: Begin, **changes: object) -> RunWriter:
    """A run that is a study."""
    run = ended(begin, **changes)
    project.put(run_paths(project, run.id).study, b"{}")
    return run


def test_a_study_does_not_come_back_beside_another_one_of_its_name(project: Project, begin: Begin) -> None:
    removed = remove_run(project, study(project, begin, name="pinot").id, NOW)
    other = study(project, begin, name="pinot", app_id="app-2")
    with pytest.raises(StudyNameTaken, match=f"{other.id} .*restore {removed.id} --name") as caught:
        restore_run(project, removed)
    assert (caught.value.run_id, caught.value.name) == (str(removed.id), "pinot")
    assert list_trash(project) == [removed]


def test_a_study_comes_back_under_another_name(project: Project, begin: Begin) -> None:
    removed = remove_run(project, study(project, begin, name="pinot").id, NOW)
    study(project, begin, name="pinot", app_id="app-2")
    with pytest.raises(StudyNameTaken):
        restore_run(project, removed, name="pinot")
    restore_run(project, removed, name="pinot-1")
    assert find_run(project, "pinot-1").id == removed.id
    assert find_run(project, "pinot").id.app_id == "app-2"


def test_a_study_comes_back_beside_a_run_of_its_name_that_is_none(project: Project, begin: Begin) -> None:
    removed = remove_run(project, study(project, begin, name="pinot").id, NOW)
    ended(begin, name="pinot", app_id="app-2")
    restore_run(project, removed)
    assert len(list_runs(project).runs) == 2


def test_a_damaged_run_keeps_its_name(project: Project, begin: Begin) -> None:
    run = begin()
    project.put(run_paths(project, run.id).record, b"{")
    removed = remove_run(project, run.id, NOW)
    with pytest.raises(CorruptRecord):
        restore_run(project, removed, name="mended")
    assert list_trash(project) == [removed]
    restore_run(project, removed)


def test_of_two_removed_runs_with_one_id_the_last_comes_back(project: Project, begin: Begin) -> None:
    for when, name in ((NOW, "first"), (NOW + 1, "second")):
        remove_run(project, ended(begin, name=name).id, when)
    assert [each.name for each in list_trash(project)] == ["second", "first"]
    assert find_removed(project, "launcher/run.1").name == "second"
    assert find_removed(project, "first").name == "first"


def test_a_removed_run_is_found_by_name_id_and_end_of_id(project: Project, begin: Begin) -> None:
    for name in ("pinot", "merlot"):
        ended(begin, name=name)
    ids = [run.id for run in list_runs(project).runs]
    for run_id in ids:
        remove_run(project, run_id, NOW)
    for text in ("pinot", "run.1", str(find_removed(project, "pinot").id)):
        assert find_removed(project, text).name == "pinot"
    with pytest.raises(NotInTrash, match="chablis"):
        find_removed(project, "chablis")


def test_a_name_of_several_removed_runs_is_refused_with_the_list(project: Project, begin: Begin) -> None:
    runs = [ended(begin), ended(begin)]
    for run in runs:
        remove_run(project, run.id, NOW)
    with pytest.raises(AmbiguousRun, match=str(runs[1].id)):
        find_removed(project, "digits")


def test_what_others_put_into_the_trash_is_left_alone(project: Project) -> None:
    project.put(f"{project.layout.trash}/my/old/folder/run.1/notes", b"")
    assert list_trash(project) == []
