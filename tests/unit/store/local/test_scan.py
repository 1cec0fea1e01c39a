import os
from pathlib import Path

import pytest

from hopyard.store.local.scan import Look

pytestmark = pytest.mark.unit


def write(folder: Path, name: str, *, at: int, content: bytes = b"") -> None:
    """Writes a file whose time is so many nanoseconds after 2001."""
    time = 1_000_000_000 * 10**9 + at
    (folder / name).write_bytes(content)
    os.utime(folder / name, ns=(time, time))


def settled(look: Look) -> list[str]:
    return [file.relative for file in look.files if look.is_settled(file)]


def test_files_are_in_the_order_in_which_they_were_written(tmp_path: Path) -> None:
    for at, name in enumerate("bca"):
        write(tmp_path, name, at=at)
    assert [file.relative for file in Look().again(tmp_path).files] == ["b", "c", "a"]


def test_of_files_of_the_same_time_the_larger_comes_first(tmp_path: Path) -> None:
    for name, content in (("a", b"1"), ("b", b"123"), ("c", b"12"), ("d", b"123")):
        write(tmp_path, name, at=0, content=content)
    assert [file.relative for file in Look().again(tmp_path).files] == ["b", "d", "c", "a"]


def test_a_first_look_can_be_sure_of_nothing(tmp_path: Path) -> None:
    write(tmp_path, "a", at=0)
    assert settled(Look().again(tmp_path)) == []


def test_what_two_looks_have_seen_is_settled(tmp_path: Path) -> None:
    write(tmp_path, "a", at=1)
    write(tmp_path, "b", at=2)
    first = Look().again(tmp_path)
    write(tmp_path, "b", at=3)
    write(tmp_path, "c", at=4)
    assert settled(first.again(tmp_path)) == ["a"]


def test_what_is_older_than_a_file_that_two_looks_have_seen_is_settled_too(tmp_path: Path) -> None:
    write(tmp_path, "index", at=2)
    first = Look().again(tmp_path)
    write(tmp_path, "data", at=1)  # was there before the index; the first look was too early for it
    assert settled(first.again(tmp_path)) == ["data", "index"]


def test_of_files_of_the_same_time_none_is_settled_before_all_have_been_seen_twice(tmp_path: Path) -> None:
    write(tmp_path, "old", at=1)
    write(tmp_path, "index", at=2)
    first = Look().again(tmp_path)
    write(tmp_path, "data", at=2)
    second = first.again(tmp_path)
    assert settled(second) == ["old"]
    assert settled(second.again(tmp_path)) == ["old", "data", "index"]


def test_a_file_is_growing_that_has_become_longer(tmp_path: Path) -> None:
    for name in ("grows", "stays", "shrinks", "is-replaced"):
        write(tmp_path, name, at=1, content=b"12")
    first = Look().again(tmp_path)
    write(tmp_path, "grows", at=2, content=b"123")
    write(tmp_path, "shrinks", at=2, content=b"1")
    write(tmp_path, "fresh", at=2, content=b"123")
    (tmp_path / "fresh").replace(tmp_path / "is-replaced")
    write(tmp_path, "new", at=2, content=b"123")
    look = first.again(tmp_path)
    assert [file.relative for file in look.files if look.is_growing(file)] == ["grows"]
