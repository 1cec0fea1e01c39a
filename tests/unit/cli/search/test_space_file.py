from __future__ import annotations

from pathlib import Path

import pytest

from hopyard.cli.search.space_file import read_space
from hopyard.errors import InvalidSetting
from hopyard.search.space.space import Space

pytestmark = pytest.mark.unit

YAML = """\
learning_rate: {low: 1e-4, high: 1E-1, log: true}
dropout: [0.2, 0.7]
batch_size: {values: [16, 32]}
optimizer:
  choose:
    sgd: {momentum: [0, .9]}
    adam:
epochs: 10
"""


def write(folder: Path, text: str, name: str = "space.yaml") -> Path:
    file = folder / name
    file.write_text(text)
    return file


def test_all_forms_of_a_space_can_be_written_in_yaml(tmp_path: Path) -> None:
    space = Space.of(read_space(write(tmp_path, YAML)))
    assert space.always == ("learning_rate", "dropout", "batch_size", "optimizer", "epochs")
    assert space.to_json()["learning_rate"] == {"low": 0.0001, "high": 0.1, "log": True}
    assert space.to_json()["dropout"] == {"values": [0.2, 0.7]}


@pytest.mark.parametrize("text", ["1e-4", "1E-4", "1.e-4", ".1e-3", "+1.0e-4"])
def test_a_number_may_be_written_with_an_exponent(tmp_path: Path, text: str) -> None:
    assert read_space(write(tmp_path, f"x: [{text}]")) == {"x": [0.0001]}


@pytest.mark.parametrize("text", ["e4", "1e", "1e-4x", "adam"])
def test_what_only_looks_like_a_number_stays_text(tmp_path: Path, text: str) -> None:
    assert read_space(write(tmp_path, f"x: [{text}]")) == {"x": [text]}


def test_json_is_read_where_the_name_says_so(tmp_path: Path) -> None:
    assert read_space(write(tmp_path, '{\n\t"x": [1e-4, 2]\n}', "space.json")) == {"x": [0.0001, 2]}


def test_bad_yaml_is_told_with_the_line(tmp_path: Path) -> None:
    with pytest.raises(
        InvalidSetting, match=r"space\.yaml cannot be used: line 2, column \d+: .*not allowed"
    ):
        read_space(write(tmp_path, "x: [1, 2]\ny: z: 3\n"))


def test_yaml_of_other_than_plain_values_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match="line 1, column 4: could not determine a constructor"):
        read_space(write(tmp_path, "x: !!python/object/apply:os.getcwd []"))


def test_bad_json_is_told_with_the_line(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match="line 2, column 1: Expecting value"):
        read_space(write(tmp_path, '{"x":\n}', "space.json"))


@pytest.mark.parametrize(("text", "what"), [("", "nothing"), ("- 1", "a list"), ("x", "a str")])
def test_a_file_without_parameters_is_refused(tmp_path: Path, text: str, what: str) -> None:
    with pytest.raises(InvalidSetting, match=f"it holds {what}; write parameters by name"):
        read_space(write(tmp_path, text))


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match="there is no such file"):
        read_space(tmp_path / "space.yaml")


def test_a_file_that_is_no_text_is_told(tmp_path: Path) -> None:
    file = tmp_path / "space.yaml"
    file.write_bytes(b"x: \xff\xfe")
    with pytest.raises(InvalidSetting, match="it is not text in UTF-8"):
        read_space(file)
