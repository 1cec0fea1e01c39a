"""What becomes of results when a disk is full: real small disks, mounted where nobody else sees them."""

from __future__ import annotations

import json
import os
import pickle
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hopyard.worker.execution import Report
from hopyard.worker.rescue import rescue

pytestmark = pytest.mark.unit

FULL_PROJECT = """
import json, os, subprocess, sys
from pathlib import Path
import hopyard

def leave_a_model(ctx):
    Path(ctx.logdir, "model").write_bytes(b"w" * 4_000_000)
    return {"accuracy": 0.93}

def fill_the_disk(ctx):
    Path(ctx.project.path, "ballast").write_bytes(b"x" * 4_000_000)

def print_much_and_fill(ctx):
    print("x" * 100_000)
    try:
        fill_the_disk(ctx)
    except OSError:
        return [0.93] * 90

def try_one(x):
    Path(hopyard.NodeContext.current().logdir, "model").write_bytes(b"w" * 4_000_000)
    return x

root, function, backend = sys.argv[1:]
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "none", root], check=True)
os.environ["HOPYARD_ROOT"] = root
try:
    if function == "search":
        from hopyard.search import grid_search
        study = grid_search(try_one, {"x": [1.0, 2.0]}, backend=backend)
        print(json.dumps([[t.state.value, t.value, t.error] for t in study.trials]))
    else:
        hopyard.launch(globals()[function], backend=backend)
except Exception as error:
    print(type(error).__name__, error)
"""

FULL_TEMPORARY = """
import os, subprocess, sys, tempfile
from pathlib import Path
import hopyard

def fail(ctx):
    try:
        Path(ctx.logdir, "ballast").write_bytes(b"x" * 4_000_000)
    except OSError:
        Path(ctx.logdir, "ballast").open("ab").close()
    raise ValueError("my own mistake")

def succeed(ctx):
    try:
        Path(ctx.logdir, "ballast").write_bytes(b"x" * 4_000_000)
    except OSError:
        return 0.93

temporary, function = sys.argv[1:]
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", temporary], check=True)
os.environ["TMPDIR"] = temporary
tempfile.tempdir = None
try:
    print(hopyard.launch(globals()[function], backend="processes", name="small").value)
except Exception as error:
    print(error)
"""


def may_mount() -> bool:
    return subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode == 0


needs_mount = pytest.mark.skipif(not may_mount(), reason="only root may mount")


def run_on_small_disk(program: str, folder: Path, *arguments: str, **environment: str) -> str:
    script = folder.parent / f"{folder.name}.py"
    script.write_text(program)
    folder.mkdir()
    ended = subprocess.run(
        ["unshare", "-m", sys.executable, str(script), str(folder), *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        env={**os.environ, **environment},
    )
    return ended.stdout


def rescued_value(text: str) -> Any:
    """Returns the value in the folder that a text names, and removes the folder."""
    (path,) = map(Path, re.findall(r"the returned value.*? is on \S+ in (\S+/value\.pickle)", text))
    value = pickle.loads(path.read_bytes())
    assert path.with_name("value.txt").read_text() == repr(value)
    shutil.rmtree(path.parent)
    return value


@needs_mount
@pytest.mark.parametrize("backend", ["inline", "processes"])
def test_value_of_a_run_whose_files_do_not_fit_is_put_aside_with_them(backend: str, tmp_path: Path) -> None:
    text = run_on_small_disk(FULL_PROJECT, tmp_path / "disk", "leave_a_model", backend)
    assert "No space left on device" in text
    assert "the returned value {'accuracy': 0.93} is on" in text
    model = Path(re.findall(r"the files are on \S+ in (\S+/logdir)", text)[0], "model")
    assert model.stat().st_size == 4_000_000
    assert rescued_value(text) == {"accuracy": 0.93}


@needs_mount
def test_value_of_a_run_whose_log_does_not_fit_is_put_aside(tmp_path: Path) -> None:
    text = run_on_small_disk(FULL_PROJECT, tmp_path / "disk", "print_much_and_fill", "processes")
    assert rescued_value(text) == [0.93] * 90


@needs_mount
def test_value_of_a_trial_whose_files_do_not_fit_counts(tmp_path: Path) -> None:
    text = run_on_small_disk(FULL_PROJECT, tmp_path / "disk", "search", "processes")
    trials = json.loads(text.splitlines()[-1])
    assert [trial[:2] for trial in trials] == [["FINISHED", 1.0], ["FINISHED", 2.0]]
    for _, _, error in trials:
        folder = Path(re.findall(r"the files are on \S+ in (\S+)/logdir", error)[0])
        assert (folder / "logdir" / "model").exists()
        shutil.rmtree(folder)


@needs_mount
def test_full_temporary_folder_does_not_hide_the_users_error(tmp_path: Path) -> None:
    text = run_on_small_disk(FULL_TEMPORARY, tmp_path / "disk", "fail", HOPYARD_ROOT=str(tmp_path / "root"))
    first, _, rest = text.partition("\n")
    assert first.endswith("failed: ValueError: my own mistake")
    assert 'raise ValueError("my own mistake")' in rest
    assert "hopyard/worker/entry.py" not in rest
    (log,) = (tmp_path / "root").rglob("logfile")
    assert 'raise ValueError("my own mistake")' in log.read_text()


@needs_mount
def test_full_temporary_folder_does_not_cost_the_value(tmp_path: Path) -> None:
    text = run_on_small_disk(
        FULL_TEMPORARY, tmp_path / "disk", "succeed", HOPYARD_ROOT=str(tmp_path / "root")
    )
    assert text == "0.93\n"


def test_none_is_no_value_to_put_aside() -> None:
    assert rescue(None, Report(value=pickle.dumps(None), printed="None")) == ""
    assert rescue(None, None) == ""


def test_long_value_is_put_aside_and_not_printed() -> None:
    value = ["x" * 1000]
    text = rescue(None, Report(value=pickle.dumps(value), printed=repr(value)))
    assert "xxx" not in text
    assert rescued_value(text) == value


def test_host_that_has_no_room_either_is_told_with_the_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    text = rescue(tmp_path, Report(value=pickle.dumps(0.5), printed="0.5"))
    assert text.startswith("the returned value 0.5 could not be put aside on ")
