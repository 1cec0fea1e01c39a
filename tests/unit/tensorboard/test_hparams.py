"""Event files of a study, as TensorBoard's own reader for use without TensorFlow gives them back."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hopyard.tensorboard.hparams import EventFile, Interval, StudyEvents, is_installed

pytestmark = pytest.mark.unit

pytest.importorskip("tensorboard")

STUDY = StudyEvents(
    params={
        "lr": Interval(low=0.001, high=0.1),
        "units": [16, 32],
        "relu": [True, False],
        "dropout": [None, 0.5],
    },
    metrics=["accuracy"],
)


def values(file: Path) -> Iterator[Any]:
    """Yields all summary values of a file; the reader checks the sums of its records."""
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.tensorflow_stub.errors import OutOfRangeError
    from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import PyRecordReader_New

    reader = PyRecordReader_New(str(file))
    try:
        while True:
            reader.GetNext()
            yield from Event.FromString(reader.record()).summary.value
    except OutOfRangeError:
        return
    finally:
        reader.file_handle.close()


def content(folder: Path, events: EventFile) -> dict[str, Any]:
    """Returns by tag what a file says: a message of the plugin, or a number."""
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

    file = folder / events.name
    file.write_bytes(events.data)
    said = {}
    for value in values(file):
        message = HParamsPluginData.FromString(value.metadata.plugin_data.content)
        kind = message.WhichOneof("data")
        said[value.tag.removeprefix("_hparams_/")] = getattr(message, kind) if kind else value.simple_value
    return said


def begun(folder: Path, **params: object) -> dict[str, object]:
    """Returns the parameters of a trial as its file has them."""
    trial = STUDY.begin(params=params, started=100.0)
    cells = content(folder, trial)["session_start_info"].hparams
    return {name: getattr(cell, cell.WhichOneof("kind")) for name, cell in cells.items()}


def test_columns_are_of_numbers_bools_or_text(tmp_path: Path) -> None:
    said = content(tmp_path, STUDY.columns(created=99.0))
    columns = {column.name: column for column in said["experiment"].hparam_infos}
    assert [columns[name].type for name in ("relu", "lr", "units", "dropout")] == [2, 3, 3, 1]
    assert (columns["lr"].domain_interval.min_value, columns["lr"].domain_interval.max_value) == (0.001, 0.1)
    assert list(columns["units"].domain_discrete) == [16, 32]
    assert list(columns["relu"].domain_discrete) == [True, False]
    assert list(columns["dropout"].domain_discrete) == ["None", "0.5"]
    assert all(column.differs for column in columns.values())


def test_a_trial_has_one_file_that_no_other_writer_would_name_so(tmp_path: Path) -> None:
    begun = STUDY.begin(params={"lr": 0.01}, started=100.5, name="first")
    ended = begun.end({"accuracy": 0.5}, ok=True, ended=101.5)
    assert begun.name == ended.name == "events.out.tfevents.0000000100.hparams"
    assert ended.data.startswith(begun.data)
    said = content(tmp_path, ended)
    assert (said["session_start_info"].group_name, said["session_start_info"].start_time_secs) == (
        "first",
        100.5,
    )
    assert (said["session_end_info"].status, said["session_end_info"].end_time_secs) == (1, 101.5)
    assert said["final/accuracy"] == 0.5


def test_a_failed_trial_has_no_values(tmp_path: Path) -> None:
    trial = STUDY.begin(params={}, started=100.0)
    said = content(tmp_path, trial.end({}, ok=False, ended=101.0))
    assert said.keys() == {"session_start_info", "session_end_info"}
    assert said["session_end_info"].status == 2


def test_values_that_are_not_finite_are_left_out(tmp_path: Path) -> None:
    trial = STUDY.begin(params={}, started=100.0)
    ended = trial.end({"accuracy": 0.25, "loss": math.nan, "gap": math.inf}, ok=True, ended=101.0)
    assert {tag for tag in content(tmp_path, ended) if tag.startswith("final/")} == {"final/accuracy"}


def test_all_values_of_a_column_are_of_its_kind(tmp_path: Path) -> None:
    assert begun(tmp_path, lr=0.01, units=16, relu=True, dropout=0.5) == {
        "lr": 0.01,
        "units": 16.0,
        "relu": True,
        "dropout": "0.5",
    }


def test_what_is_neither_number_nor_bool_is_shown_as_text(tmp_path: Path) -> None:
    assert begun(tmp_path, layers=[8, 4], norm=math.inf, optimizer="adam") == {
        "layers": "[8, 4]",
        "norm": "inf",
        "optimizer": "adam",
    }


def test_writing_does_not_load_tensorflow() -> None:
    program = """
import sys
from hopyard.tensorboard.hparams import StudyEvents
study = StudyEvents(params={"lr": [1, 2]}, metrics=["loss"])
assert study.columns(created=1.0).data
assert study.begin(params={"lr": 1}, started=1.0).end({"loss": 1.0}, ok=True, ended=2.0).data
print([name for name in ("tensorflow", "keras", "torch") if name in sys.modules])
"""
    command = [sys.executable, "-c", program]
    assert subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout == "[]\n"


def test_it_is_known_without_loading_whether_tensorboard_is_there() -> None:
    assert is_installed()
