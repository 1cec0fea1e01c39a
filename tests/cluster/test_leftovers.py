from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

pytestmark = pytest.mark.cluster

CONFTEST = Path(__file__).parents[1] / "conftest.py"
LEAVING = """
import subprocess

def test_leaves_a_process():
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    print("left", subprocess.Popen(["sleep", "60"], **quiet).pid)
"""


def test_a_run_that_leaves_a_process_behind_fails(tmp_path: Path) -> None:
    shutil.copy(CONFTEST, tmp_path)
    (tmp_path / "test_leaving.py").write_text(LEAVING)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    left = int(done.stdout.split("left ", 1)[1].split()[0])
    psutil.Process(left).kill()
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "1 passed" in done.stdout
    assert f"{left}: sleep 60" in done.stdout
