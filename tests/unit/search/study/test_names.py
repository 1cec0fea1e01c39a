from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from hopyard.codec.records import encode_file
from hopyard.errors import AmbiguousRun, InvalidSearch, StudyBusy, StudyExists, StudyNotFound
from hopyard.search.study.names import START_SECONDS, StudyName, fresh_name
from hopyard.store import Project
from hopyard.tracking import Direction, RunId, RunWriter, StudyRecord, run_paths
from hopyard.tracking.driver_process import DriverProcess

pytestmark = pytest.mark.unit


@pytest.fixture(params=["file", "memory"])
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Project:
    root = str(tmp_path) if request.param == "file" else f"memory://names-{os.urandom(4).hex()}"
    return Project.open(root, "p")


def record_study(project: Project, name: str, **counts: int) -> RunId:
    """Leaves the record of a study, as its driver does."""
    with RunWriter.begin(project, app_id="app", kind="search", name=name, nodes=1, backend="spark") as run:
        record = StudyRecord(
            run=run.id,
            objectives=("metric",),
            directions=(Direction.MAX,),
            sampler="TPESampler",
            space={},
            parallel=1,
            counts=counts,
        )
        project.put(run_paths(project, run.id).study, encode_file(record))
    return run.id


def wish(given: str | None, **options: Any) -> StudyName:
    return StudyName(given=given, function="train", **options)


def test_a_new_study_has_the_name_that_was_given(project: Project) -> None:
    assert wish("digits").earlier(project) is None
    with wish("digits").taken(project) as name:
        assert name == "digits"


def test_the_name_of_another_study_is_refused_with_its_id_and_its_trials(project: Project) -> None:
    run_id = record_study(project, "digits", FINISHED=12, FAILED=4)
    with pytest.raises(StudyExists, match=rf"{run_id}, trials: 16. Continue it with resume=True"):
        wish("digits").earlier(project)
    with pytest.raises(StudyExists), wish("digits").taken(project):
        pass


def test_a_run_that_is_no_study_does_not_take_a_name(project: Project) -> None:
    with RunWriter.begin(project, app_id="app", kind="launcher", name="digits", nodes=1, backend="inline"):
        pass
    with wish("digits").taken(project) as name:
        assert name == "digits"


def test_studies_without_a_name_are_numbered(project: Project) -> None:
    names = []
    for _ in range(3):
        with wish(None).taken(project) as name:
            names.append(name)
            record_study(project, name)
    assert names == ["train", "train-2", "train-3"]
    assert fresh_name(project, "train") == "train-4"


def test_two_studies_without_a_name_that_start_at_once_get_different_ones(project: Project) -> None:
    with wish(None).taken(project) as first, wish(None).taken(project) as second:
        assert (first, second) == ("train", "train-2")


def test_a_study_is_resumed_by_its_name_or_its_id(project: Project) -> None:
    run_id = record_study(project, "digits")
    for given in ("digits", str(run_id)):
        for resume in (True, "if_exists"):
            found = wish(given, resume=resume).earlier(project)
            assert found is not None
            assert found.id == run_id


def test_without_a_name_the_newest_study_of_the_function_is_resumed(project: Project) -> None:
    record_study(project, "train")
    newest = record_study(project, "train-2")
    record_study(project, "trainer")
    found = wish(None, resume=True).earlier(project)
    assert found is not None
    assert found.id == newest


def test_an_unknown_study_cannot_be_resumed_and_the_error_lists_those_there_are(project: Project) -> None:
    with pytest.raises(StudyNotFound, match=r"no study 'digitz' .* It has no studies yet"):
        wish("digitz", resume=True).earlier(project)
    record_study(project, "digits")
    record_study(project, "letters")
    with pytest.raises(StudyNotFound, match=r"Its studies: (digits, letters|letters, digits)\."):
        wish("digitz", resume=True).earlier(project)


def test_an_unknown_study_is_new_if_either_will_do(project: Project) -> None:
    assert wish("digits", resume="if_exists").earlier(project) is None
    with wish("digits", resume="if_exists").taken(project) as name:
        assert name == "digits"


def test_of_two_studies_of_one_name_the_id_has_to_be_given(project: Project) -> None:
    first, second = record_study(project, "digits"), record_study(project, "digits")
    with pytest.raises(AmbiguousRun) as caught:
        wish("digits", resume=True).earlier(project)
    assert str(first) in str(caught.value)
    found = wish(str(second), resume=True).earlier(project)
    assert found is not None
    assert found.id == second


def test_resume_is_one_of_three(project: Project) -> None:
    with pytest.raises(InvalidSearch, match="resume='yes' is not valid"):
        wish("digits", resume="yes").earlier(project)


def test_of_drivers_that_start_the_same_study_at_once_one_succeeds(project: Project) -> None:
    barrier = Barrier(8)

    def start(_: int) -> bool:
        barrier.wait()
        try:
            with wish("digits").taken(project) as name:
                record_study(project, name)
                return True
        except (StudyExists, StudyBusy):
            return False

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(start, range(8))) == 1


HOLDER = """
import sys
from hopyard.search.study.names import StudyName
from hopyard.store import Project
with StudyName(given="digits", function="train").taken(Project.open(sys.argv[1], "p")):
    print("taken", flush=True)
    sys.stdin.read()
"""


def test_a_name_that_a_killed_driver_has_claimed_is_free_at_once(tmp_path: Path) -> None:
    project = Project.open(str(tmp_path), "p")
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "taken\n"
        words = rf"running the study digits: process {holder.pid} on .* if it is dead"
        with pytest.raises(StudyBusy, match=words), wish("digits").taken(project):
            pass
        holder.kill()
        holder.wait()
    with wish("digits").taken(project) as name:
        assert name == "digits"


def test_a_name_that_a_dead_driver_has_claimed_elsewhere_is_free_after_a_while(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = DriverProcess.this()
    with ExitStack() as dead:
        with monkeypatch.context() as patch:
            patch.setattr(DriverProcess, "this", lambda: replace(here, host="host-b"))
            dead.enter_context(wish("digits").taken(project))
        words = r"process \d+ on host-b, which last wrote 59 s ago\. .* or wait 1 s if it is dead\."
        young = wish("digits").taken(project, age=lambda *_: START_SECONDS - 1)
        with pytest.raises(StudyBusy, match=words), young:
            pass
        with wish("digits").taken(project, age=lambda *_: START_SECONDS + 1) as name:
            assert name == "digits"


def test_nothing_is_left_of_a_claim(project: Project) -> None:
    with wish("digits").taken(project):
        pass
    assert [entry for entry in project.walk() if not entry.is_dir] == []
