from __future__ import annotations

import pytest

from hopyard.errors import AmbiguousRun, BadArguments, OutsideProject, RunNotFound
from hopyard.tracking import RunId, find_run, list_runs
from hopyard.tracking.paths import run_paths

pytestmark = pytest.mark.unit


@pytest.fixture
def runs(begin, clock) -> dict[str, RunId]:
    """Runs by name, each a second after the other."""
    plan = {
        "oldest": ("application_9_0001", "launcher"),
        "digits": ("application_1_0042", "launcher"),
        "search": ("application_1_0042", "grid_search"),
        "newest": ("application_1_0042", "launcher"),
    }
    begun = {}
    for name, (app_id, kind) in plan.items():
        clock.now += 1
        begun[name] = begin(name=name, app_id=app_id, kind=kind).id
    return begun


def test_an_empty_project_has_no_runs(project):
    listing = list_runs(project)
    assert (listing.runs, listing.corrupt) == ((), ())


def test_runs_are_listed_newest_first(project, runs):
    assert [run.name for run in list_runs(project).runs] == ["newest", "search", "digits", "oldest"]


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 9])
def test_a_limit_gives_the_newest_runs(project, runs, limit):
    names = [run.name for run in list_runs(project, limit=limit).runs]
    assert names == ["newest", "search", "digits", "oldest"][:limit]


def test_damaged_records_are_reported_and_hide_nothing(project, runs):
    damaged = [run_paths(project, runs[name]).record for name in ("digits", "oldest")]
    project.put(damaged[0], b'{"schema": 1')
    project.put(damaged[1], b"")
    listing = list_runs(project)
    assert [run.name for run in listing.runs] == ["newest", "search"]
    assert sorted(error.path for error in listing.corrupt) == sorted(damaged)


def test_folders_and_files_that_are_no_runs_are_passed_over(project, runs):
    logs = project.layout.logs
    project.put(f"{logs}/note.txt", b"")
    project.put(f"{logs}/application_1_0042/TensorBoard.driver", b"")
    project.put(f"{logs}/application_1_0042/launcher/run.9/logfile", b"from an older program")
    project.put(f"{logs}/application_1_0042/launcher/run.x/run.json", b"")
    listing = list_runs(project)
    assert len(listing.runs) == 4
    assert listing.corrupt == ()
    assert find_run(project, "last").id == runs["newest"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("last", "newest"),
        ("digits", "digits"),
        ("application_9_0001/launcher/run.1", "oldest"),
        ("0042/launcher/run.1", "digits"),
        ("grid_search/run.1", "search"),
        ("run.2", "newest"),
        ("2", "newest"),
        ("application_9", "oldest"),
        ("Logs/TensorFlow/application_9_0001/launcher/run.1/", "oldest"),
    ],
)
def test_a_run_is_found_by_what_a_user_may_call_it(project, runs, text, name):
    assert find_run(project, text).id == runs[name]


@pytest.mark.parametrize("text", ["", "nothing", "app/launcher/run.5", "run.77"])
def test_a_text_that_no_run_answers_to_is_not_found(project, runs, text):
    with pytest.raises(RunNotFound):
        find_run(project, text)


def test_a_run_is_found_by_its_folder(project, runs):
    folder = project.url(run_paths(project, runs["digits"]).folder)
    assert find_run(project, folder).id == find_run(project, f"file://{folder}/").id == runs["digits"]
    with pytest.raises(RunNotFound):
        find_run(project, project.url("Resources"))
    with pytest.raises(OutsideProject):
        find_run(project, "/etc")


def test_an_id_that_a_table_has_cut_is_found(project, runs):
    assert str(find_run(project, "…_0042/launcher/run.2").id) == "application_1_0042/launcher/run.2"


def test_an_unknown_run_is_told_with_those_that_there_are(project, runs):
    with pytest.raises(RunNotFound) as caught:
        find_run(project, "digit")
    assert str(caught.value) == (
        f"there is no run 'digit' in {project.path}. Did you mean 'digits'? "
        "Its runs: application_1_0042/launcher/run.2 (newest), application_1_0042/grid_search/run.1 (search), "
        "application_1_0042/launcher/run.1 (digits), application_9_0001/launcher/run.1 (oldest). "
        "Give an id, the start or end of an id, a name, a folder, or 'last'; `hopyard runs` lists all runs."
    )
    with pytest.raises(RunNotFound) as caught:
        find_run(project, "nodes")  # as like "oldest" as any other word
    assert "Did you mean" not in str(caught.value)
    with pytest.raises(BadArguments, match="7 is no text that names a run"):
        find_run(project, 7)


def test_the_last_run_of_an_empty_project_is_not_found(project):
    with pytest.raises(RunNotFound, match="It has no runs yet"):
        find_run(project, "last")


def test_an_ambiguous_text_lists_the_candidates_newest_first(project, runs):
    with pytest.raises(AmbiguousRun) as caught:
        find_run(project, "run.1")
    assert caught.value.candidates == (
        f"{runs['search']} (search)",
        f"{runs['digits']} (digits)",
        f"{runs['oldest']} (oldest)",
    )


def test_whole_parts_of_an_id_go_before_its_end(project, begin):
    numbers = [begin().id.number for _ in range(11)]
    assert numbers[-1] == 11
    assert find_run(project, "run.1").id.number == 1


@pytest.mark.parametrize("text", ["application_1_0042/launcher/run.1", "0042/launcher/run.1"])
def test_a_run_with_a_damaged_record_is_found_by_its_id(project, runs, text):
    project.put(run_paths(project, runs["digits"]).record, b"?")
    assert find_run(project, text).id == runs["digits"]
