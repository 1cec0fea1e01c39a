from __future__ import annotations

import re
import signal
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

import hopyard
from hopyard.errors import NodeFailed
from hopyard.testing.watching import wait_until

pytestmark = pytest.mark.unit

PROGRAM = """
import pathlib
import threading

import hopyard


def train(x):
    pathlib.Path("{folder}", "started").touch()
    threading.Event().wait()


def main():
    {call}


if __name__ == "__main__":
    main()
"""
CALLS = {
    "launch": 'hopyard.launch(train, {"x": 1}, backend="processes", progress=False)',
    "search": 'hopyard.grid_search(train, {"x": [1, 2]}, backend="processes", parallel=1, progress=False)',
}
SAID = {
    "launch": r"Interrupted: the run \S+ was stopped; its files are in \S+\.\n",
    "search": r"Interrupted: 0 of 2 trials of \S+ have ended and are kept; 1 under way will run again\.\n"
    r"Go on with: hopyard\.grid_search\(train, .*, resume=True\)\n",
}


@pytest.mark.parametrize("call", CALLS)
def test_ctrl_c_says_what_is_kept_and_nothing_else(call: str, tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM.replace("{folder}", str(tmp_path)).replace("{call}", CALLS[call]))
    command = [sys.executable, str(script)]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        wait_until((tmp_path / "started").exists, "the function runs", 60)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT
    assert re.fullmatch(SAID[call], said), said


def interrupt_itself() -> None:
    raise KeyboardInterrupt


def test_a_ctrl_c_that_a_function_raises_itself_is_told_as_that_of_its_node() -> None:
    with pytest.raises(NodeFailed, match="KeyboardInterrupt: the function raised it, or") as caught:
        hopyard.launch(interrupt_itself, backend="processes", progress=False)
    assert "in interrupt_itself" in str(caught.value)


def test_ctrl_c_in_a_function_that_runs_inline_shows_where_it_was() -> None:
    with pytest.raises(KeyboardInterrupt) as caught:
        hopyard.launch(interrupt_itself, backend="inline", progress=False)
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert names[1:] == ["launch", "interrupt_itself"]
