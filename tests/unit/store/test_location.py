from pathlib import Path

import pytest

from hopyard.errors import InvalidName
from hopyard.store.location import Location

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("text", "protocol", "authority", "path"),
    [
        ("hdfs://host:8020", "hdfs", "host:8020", ""),
        ("hdfs://host:8020/", "hdfs", "host:8020", ""),
        ("hdfs:///user/me/", "hdfs", "", "/user/me"),
        ("HDFS://cluster/a?b#c%20d", "hdfs", "cluster", "/a?b#c%20d"),
        ("s3://bucket/some/prefix", "s3", "bucket", "/some/prefix"),
        ("file:///data/yard", "file", "", "/data/yard"),
        ("file:/data/yard", "file", "", "/data/yard"),
        ("/data/yard/", "file", "", "/data/yard"),
        ("/", "file", "", ""),
    ],
)
def test_url_falls_into_its_parts(text: str, protocol: str, authority: str, path: str) -> None:
    assert Location.parse(text) == Location(protocol=protocol, authority=authority, path=path)


def test_local_paths_are_plain_and_urls_are_urls() -> None:
    assert str(Location.parse("file:///data")) == "/data"
    assert str(Location.parse("s3://bucket/a/")) == "s3://bucket/a"


def test_relative_path_and_home_are_made_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert str(Location.parse("yard")) == str(tmp_path / "yard")
    assert str(Location.parse("~/yard")) == str(tmp_path / "home" / "yard")


@pytest.mark.parametrize(
    "text", ["", "file://host/path", "hdfs://host/a/../b", "s3://bucket//a", "a\0b", "hdfs:/user/me"]
)
def test_text_that_names_no_place_is_refused(text: str) -> None:
    with pytest.raises(InvalidName):
        Location.parse(text)


def test_a_url_with_one_slash_is_no_folder_of_that_name() -> None:
    with pytest.raises(
        InvalidName, match=r"'dbfs:/a/b' is not a valid name or path: .*; write dbfs://host/a/b\."
    ):
        Location.parse("dbfs:/a/b")
