from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import hopyard
from hopyard.run.run_thread import FORGOTTEN
from hopyard.tracking import RunState

pytestmark = pytest.mark.unit

PROGRAM = """
import threading

import hopyard


def wait_for_ever():
    threading.Event().wait()


def add():
    return 40 + 2


{rest}
"""
FORGETS = 'hopyard.Cluster(wait_for_ever, backend="processes", name="forgotten").start()'
OTHER_THREAD_WAITS = """
cluster = hopyard.Cluster(add, backend="processes", name="waited for").start()
threading.Thread(target=lambda: print(cluster.wait().value)).start()
"""


def said_by(rest: str, folder: Path) -> subprocess.CompletedProcess[str]:
    script = folder / "program.py"
    script.write_text(PROGRAM.replace("{rest}", rest))
    return subprocess.run(
        [sys.executable, str(script)], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )


def test_a_run_that_its_program_forgets_is_stopped_and_the_program_says_so_last(tmp_path: Path) -> None:
    ended = said_by(FORGETS, tmp_path)
    run = hopyard.load_run("forgotten")
    assert ended.returncode == 0
    assert ended.stderr.splitlines() == [
        f"run {run.run_id} was still running at the end of the program, and is stopped: nothing waited for it. "
        "Use the Cluster in a with statement, or call its wait()."
    ]
    assert (run.state, run.error) == (RunState.KILLED, FORGOTTEN)


def test_a_run_for_which_another_thread_of_the_program_waits_goes_on_to_its_end(tmp_path: Path) -> None:
    ended = said_by(OTHER_THREAD_WAITS, tmp_path)
    assert (ended.stdout, ended.stderr) == ("42\n", "")
    assert hopyard.load_run("waited for").state is RunState.FINISHED
