from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hopyard.errors import JavaNotFound
from hopyard.spark.session.java import require_java

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.unit


def install(home: Path, says: str) -> Path:
    """A program `java` that tells this version, as old and odd Javas do."""
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho '{says}' >&2\n")
    java.chmod(0o755)
    return java


def test_java_home_comes_before_the_path(tmp_path: Path) -> None:
    wanted = install(tmp_path / "home", 'openjdk version "17.0.15" 2025-04-15')
    other = install(tmp_path / "other", 'openjdk version "21.0.1" 2023-10-17')
    assert require_java({"JAVA_HOME": str(tmp_path / "home"), "PATH": str(other.parent)}) == wanted


def test_java_is_found_on_the_path(tmp_path: Path) -> None:
    java = install(tmp_path, 'openjdk version "21" 2023-09-19')
    assert require_java({"PATH": str(java.parent)}) == java


def test_no_java_is_told_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(JavaNotFound) as missing:
        require_java({"PATH": str(tmp_path)})
    assert str(missing.value) == (
        "Spark needs Java 17 or newer, but there is no java on the PATH and JAVA_HOME is not set. "
        "Install one, or set JAVA_HOME to its folder."
    )


def test_a_java_home_without_java_is_named(tmp_path: Path) -> None:
    with pytest.raises(JavaNotFound, match=f"JAVA_HOME is {tmp_path} and has no bin/java"):
        require_java({"JAVA_HOME": str(tmp_path)})


@pytest.mark.parametrize(
    ("says", "version"), [('java version "1.8.0_402"', 8), ('openjdk version "11.0.22"', 11)]
)
def test_an_old_java_is_refused(tmp_path: Path, says: str, version: int) -> None:
    install(tmp_path, says)
    with pytest.raises(JavaNotFound, match=f"is Java {version}"):
        require_java({"JAVA_HOME": str(tmp_path)})


def test_a_program_that_is_not_java_is_refused(tmp_path: Path) -> None:
    install(tmp_path, "good morning")
    with pytest.raises(JavaNotFound, match="does not tell its version"):
        require_java({"JAVA_HOME": str(tmp_path)})
