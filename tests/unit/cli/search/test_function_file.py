from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hopyard.cli.search.function_file import load_function
from hopyard.errors import InvalidSetting

pytestmark = pytest.mark.unit


@pytest.fixture(autouse=True)
def as_found(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What is loaded here is forgotten afterwards."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        del sys.modules[name]


def write(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.write_text(text)
    return file


def test_a_function_is_loaded_and_finds_what_is_beside_it(tmp_path: Path) -> None:
    write(tmp_path, "cellar_tools.py", "def twice(x): return 2 * x\n")
    file = write(tmp_path, "cellar.py", "import cellar_tools\ndef train(x): return cellar_tools.twice(x)\n")
    assert load_function(f"{file}:train")(3) == 6


def test_a_path_may_be_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "press.py", "def train(): return 1\n")
    monkeypatch.chdir(tmp_path)
    assert load_function("press.py:train")() == 1


def test_a_file_may_be_called_like_a_module_that_is_loaded(tmp_path: Path) -> None:
    file = write(tmp_path, "json.py", "def train(): return 1\n")
    assert load_function(f"{file}:train")() == 1
    assert sys.modules["json"].__file__ != str(file)


@pytest.mark.parametrize("text", ["train.py", "train:fit", "train.py:", ":fit", "train.py:a-b"])
def test_a_text_that_names_no_function_is_told_the_form(text: str) -> None:
    with pytest.raises(InvalidSetting, match=r"as in train\.py:train"):
        load_function(text)


def test_a_missing_file_is_named_in_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidSetting, match=f"there is no file {tmp_path}/nowhere.py"):
        load_function("nowhere.py:train")


def test_a_missing_function_is_told_with_those_that_there_are(tmp_path: Path) -> None:
    text = "from json import dumps\nYEARS = 3\ndef train(): ...\ndef _inner(): ...\nclass Press: ...\n"
    file = write(tmp_path, "vats.py", text)
    with pytest.raises(InvalidSetting, match=r"vats\.py has no function 'fit'; choose from train, Press\."):
        load_function(f"{file}:fit")
    with pytest.raises(InvalidSetting, match="has no function 'YEARS'"):
        load_function(f"{file}:YEARS")


def test_a_file_that_cannot_be_loaded_is_told_with_the_line(tmp_path: Path) -> None:
    file = write(tmp_path, "sour.py", "\nimport grapes_of_nowhere\n")
    with pytest.raises(
        InvalidSetting, match=r"line 2: ModuleNotFoundError: No module named 'grapes_of_nowhere'\.$"
    ):
        load_function(f"{file}:train")
    assert "sour" not in sys.modules


def test_a_file_that_is_no_python_is_told_with_the_line(tmp_path: Path) -> None:
    file = write(tmp_path, "spilt.py", "def train():\n    return (\n")
    with pytest.raises(
        InvalidSetting, match=r"spilt\.py cannot be loaded: line 2: SyntaxError: '\(' was never closed"
    ):
        load_function(f"{file}:train")
