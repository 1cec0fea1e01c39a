from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import cloudpickle
import pytest

from hopyard.worker.entry import PAYLOAD_FILE
from hopyard.worker.execution import Report, execute

pytestmark = pytest.mark.unit


def divide(x: int) -> float:
    return 1 / x


def failing_report() -> Report:
    return execute(cloudpickle.dumps(lambda: divide(0)))


def test_a_failure_shows_only_the_users_frames() -> None:
    failure = failing_report().failure
    assert failure is not None
    assert "in divide" in failure.traceback
    assert "hopyard/worker/execution.py" not in failure.traceback
    assert (failure.error_type, failure.message) == (
        "ZeroDivisionError",
        "ZeroDivisionError: division by zero",
    )


def test_bytes_that_are_no_payload_give_a_failure_not_an_exception() -> None:
    assert execute(b"garbage").failure is not None


@pytest.mark.parametrize("report", [Report(value=b"bytes"), failing_report()])
def test_a_report_survives_the_way_through_a_folder(report: Report, tmp_path: Path) -> None:
    report.write(tmp_path)
    assert Report.read(tmp_path) == report


def test_a_half_written_report_is_none(tmp_path: Path) -> None:
    (tmp_path / "value.tmp").write_bytes(b"half")
    assert Report.read(tmp_path) is None


def run_entry(tmp_path: Path, code: str) -> subprocess.CompletedProcess[bytes]:
    """Runs the node's main program on a function given as source text."""
    scope: dict[str, object] = {"__name__": "__main__"}
    exec(code, scope)
    (tmp_path / PAYLOAD_FILE).write_bytes(cloudpickle.dumps(scope["main"]))
    return subprocess.run(
        [sys.executable, "-m", "hopyard.worker.entry", str(tmp_path)],
        capture_output=True,
        check=False,
        timeout=60,
    )


def test_a_crash_in_native_code_leaves_a_traceback(tmp_path: Path) -> None:
    ended = run_entry(tmp_path, "def main():\n    import ctypes\n    ctypes.string_at(0)")
    assert ended.returncode == -11
    assert b"Fatal Python error: Segmentation fault" in ended.stderr
    assert Report.read(tmp_path) is None


def test_a_thread_left_running_does_not_keep_the_process(tmp_path: Path) -> None:
    code = """
def main():
    import threading
    import hopyard.worker.entry
    from __main__ import __dict__ as scope
    scope["EXIT_SECONDS"] = 0.5
    threading.Thread(target=threading.Event().wait).start()
    return "done"
"""
    began = time.monotonic()
    run_entry(tmp_path, code)
    assert time.monotonic() - began < 20
    report = Report.read(tmp_path)
    assert report is not None
    assert cloudpickle.loads(report.value) == "done"


def test_a_failure_is_also_written_to_the_log(tmp_path: Path) -> None:
    ended = run_entry(tmp_path, "def main():\n    raise ValueError('no such luck')")
    assert ended.returncode == 1
    assert b"ValueError: no such luck" in ended.stderr
    assert json.loads((tmp_path / "failure.json").read_bytes())["error_type"] == "ValueError"


UNFLUSHED = """
import io, pathlib, sys, json
class Broken(io.RawIOBase):
    def flush(self):
        raise OSError("no such luck")
def main():
    json.broken = Broken()
    json.kept = pathlib.Path(sys.argv[1], "kept").open("w")
    json.kept.write("all of it")
"""


def test_files_that_modules_keep_open_are_flushed_at_the_end(tmp_path: Path) -> None:
    ended = run_entry(tmp_path, UNFLUSHED)
    assert (tmp_path / "kept").read_text() == "all of it"
    assert b"could not be flushed: no such luck" in ended.stderr
    assert ended.returncode == 0


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


def raise_unprintable() -> None:
    raise Unprintable


def test_an_error_that_cannot_be_printed_is_told_by_its_name() -> None:
    failure = execute(cloudpickle.dumps(raise_unprintable)).failure
    assert failure is not None
    assert failure.message.startswith("Unprintable, whose message could not be printed")
