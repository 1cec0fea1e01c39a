from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import psutil
import pytest

from hopyard.testing.processes import still_running
from hopyard.worker.server_process import ServerProcess

pytestmark = pytest.mark.unit

SLEEPER = [sys.executable, "-S", "-c", "import time; time.sleep(600)"]


def descendants(pid: int) -> list[psutil.Process]:
    return psutil.Process(pid).children(recursive=True)


def test_a_server_runs_until_it_is_stopped(tmp_path: Path) -> None:
    with ServerProcess(SLEEPER, log=tmp_path / "log") as server:
        assert server.is_running
    assert not server.is_running


def test_the_end_of_the_log_can_be_asked_for(tmp_path: Path) -> None:
    code = "for i in range(100): print('line', i)"
    with ServerProcess([sys.executable, "-S", "-c", code], log=tmp_path / "log") as server:
        server._warden.wait(20)
        assert server.last_lines(2) == "line 98\nline 99"


def test_a_killed_server_is_gone_with_its_warden(tmp_path: Path) -> None:
    with ServerProcess(SLEEPER, log=tmp_path / "log") as server:
        family = [psutil.Process(server._warden.pid), *descendants(server._warden.pid)]
        server.kill()
        assert not server.is_running
        alive = still_running(family, 10)
    assert not alive


def test_kill_9_of_the_owner_ends_the_server(tmp_path: Path) -> None:
    code = f"""
        import sys, time
        from pathlib import Path
        from hopyard.worker.server_process import ServerProcess
        server = ServerProcess({SLEEPER!r}, log=Path(sys.argv[1]))
        print(server._warden.pid, flush=True)
        time.sleep(600)
    """
    owner = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), str(tmp_path / "log")], stdout=subprocess.PIPE
    )
    with owner:
        assert owner.stdout is not None
        assert owner.stdout.readline()
        family = descendants(owner.pid)
        owner.kill()
        alive = still_running(family, 10)
    assert not alive
