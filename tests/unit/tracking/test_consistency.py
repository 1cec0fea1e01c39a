from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.cluster

PROGRAM = Path(__file__).with_name("kill_writers.py")


def test_readers_see_a_consistent_past_while_a_hundred_writers_are_killed(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, PROGRAM, "--root", tmp_path, "--kills", "100", "--writers", "4"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "100 kills" in ended.stdout
