from __future__ import annotations

import os
import stat
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from hopyard.cli.doctor import checks
from hopyard.cli.doctor.finding import Finding, Verdict
from hopyard.store import Project

pytestmark = pytest.mark.unit


@pytest.mark.parametrize("version", [(3, 9, 2), (3, 10, 14), (3, 14, 0)])
def test_a_python_that_is_not_supported_is_a_problem(version: tuple[int, int, int]) -> None:
    finding = checks.check_python(version)
    assert finding.verdict is Verdict.PROBLEM
    assert finding.text == f"{'.'.join(map(str, version))} is not supported: use 3.11 to 3.13"


@pytest.mark.parametrize("version", [(3, 11, 0), (3, 12, 9), (3, 13, 7)])
def test_a_python_that_is_supported_is_fine(version: tuple[int, int, int]) -> None:
    assert checks.check_python(version).verdict is Verdict.OK


def test_no_java_is_a_problem_that_says_what_to_install(tmp_path: Path) -> None:
    finding = checks.check_java({"PATH": str(tmp_path)})
    assert finding.verdict is Verdict.PROBLEM
    assert "17" in finding.text


def test_java_home_wins_over_the_path(tmp_path: Path) -> None:
    java = fake_java(tmp_path, 'openjdk version "21.0.2" 2024-01-16')
    finding = checks.check_java({"JAVA_HOME": str(tmp_path), "PATH": "/usr/bin"})
    assert finding == Finding(subject="Java", verdict=Verdict.OK, text=f"17 or newer ({java})")


def test_a_java_home_without_java_is_a_problem_even_if_the_path_has_one(tmp_path: Path) -> None:
    finding = checks.check_java({"JAVA_HOME": str(tmp_path), "PATH": "/usr/bin"})
    assert finding.verdict is Verdict.PROBLEM
    assert str(tmp_path) in finding.text


def test_an_old_java_is_a_problem(tmp_path: Path) -> None:
    fake_java(tmp_path, 'java version "1.8.0_402"')
    finding = checks.check_java({"JAVA_HOME": str(tmp_path)})
    assert finding.verdict is Verdict.PROBLEM
    assert "Java 8" in finding.text


def test_a_java_that_fails_is_a_problem(tmp_path: Path) -> None:
    fake_java(tmp_path, "no version here", code=1)
    assert checks.check_java({"JAVA_HOME": str(tmp_path)}).verdict is Verdict.PROBLEM


def test_a_writable_project_is_fine_and_no_probe_stays(tmp_path: Path) -> None:
    project = Project.open(str(tmp_path), "p")
    assert checks.check_project(lambda: project).verdict is Verdict.OK
    assert project.list() == []


def test_a_root_below_a_file_is_a_problem_that_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    finding = checks.check_project(lambda: Project.open(str(tmp_path / "file"), "p"))
    assert finding.verdict is Verdict.PROBLEM
    assert "HOPYARD_ROOT" in finding.text


def test_a_root_that_nobody_speaks_is_a_problem(tmp_path: Path) -> None:
    finding = checks.check_project(lambda: Project.open("gopher://old/root", "p"))
    assert finding.verdict is Verdict.PROBLEM
    assert "gopher" in finding.text


def test_a_scratch_folder_that_is_a_link_is_a_problem_with_one_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / f"hopyard-{os.getuid()}").symlink_to(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    finding = checks.check_scratch()
    assert finding.verdict is Verdict.PROBLEM
    assert finding.text.endswith("Remove it, or set TMPDIR to another folder of your own.")
    assert finding.text.count("TMPDIR") == 1


def test_a_temporary_folder_that_is_none_is_a_problem_with_one_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "file"))
    finding = checks.check_scratch()
    assert finding.verdict is Verdict.PROBLEM
    assert "Not a directory" in finding.text
    assert finding.text.count("TMPDIR") == 1


def test_rescued_files_are_reported(tmp_path: Path) -> None:
    (tmp_path / "hopyard-rescued-x1").mkdir()
    (finding,) = checks.check_rescued(tmp_path)
    assert finding.verdict is Verdict.PROBLEM
    assert "hopyard-rescued-x1" in finding.text
    assert finding.text.endswith(f"then remove it: rm -r {tmp_path}/hopyard-rescued-x1")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder to another user")
def test_rescued_files_of_another_user_are_no_problem_of_this_one(tmp_path: Path) -> None:
    folder = tmp_path / "hopyard-rescued-x1"
    folder.mkdir()
    os.chown(folder, 12345, 12345)
    (finding,) = checks.check_rescued(tmp_path)
    assert finding.verdict is Verdict.OK


@pytest.mark.parametrize("check", [checks.check_loopback, checks.check_address, checks.check_scratch])
def test_this_machine_is_fit_for_tests(check: object) -> None:
    assert callable(check)
    assert check().verdict is Verdict.OK


def test_an_examination_looks_at_everything(tmp_path: Path) -> None:
    findings: Iterator[Finding] = checks.examine(lambda: Project.open(str(tmp_path), "p"))
    subjects = [finding.subject for finding in findings]
    for expected in (
        "Python",
        "Java",
        "pyspark",
        "search",
        "JAX",
        "hops",
        "loopback",
        "address",
        "project",
        "scratch",
    ):
        assert expected in subjects


def test_what_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(checks, "PATIENCE_SECONDS", 0.2)
    is_over = threading.Event()

    def open_slowly() -> Project:
        is_over.wait()
        return Project.open(str(tmp_path), "p")

    found = {finding.subject: finding for finding in checks.examine(open_slowly)}
    is_over.set()
    assert found["project"].verdict is Verdict.PROBLEM
    assert found["project"].text.startswith("no answer within 0.2 s: ")


def fake_java(home: Path, answer: str, code: int = 0) -> Path:
    """Makes a program that answers as a Java of that version does."""
    java = home / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\necho '{answer}' >&2\nexit {code}\n")
    java.chmod(java.stat().st_mode | stat.S_IXUSR)
    return java
