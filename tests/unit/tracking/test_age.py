from __future__ import annotations

import os
from pathlib import Path

import pytest

from hopyard.errors import PathNotFound
from hopyard.store import Project
from hopyard.tracking.age import age_of

pytestmark = pytest.mark.unit


def test_an_age_is_by_the_clock_of_the_store(tmp_path: Path) -> None:
    project = Project.open(str(tmp_path), "p")
    project.put("a/b", b"")
    assert age_of(project, "a/b") < 5
    local = project.local_path("a/b")
    assert local is not None
    before = local.stat().st_mtime - 100
    os.utime(local, (before, before))
    assert 100 <= age_of(project, "a/b") < 105
    os.utime(local, (before + 1000, before + 1000))
    assert age_of(project, "a/b") == 0.0
    assert [entry.name for entry in project.list("a")] == ["b"]


def test_what_is_not_there_has_no_age(tmp_path: Path) -> None:
    with pytest.raises(PathNotFound):
        age_of(Project.open(str(tmp_path), "p"), "a/b")
