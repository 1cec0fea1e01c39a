from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import psutil
import pytest

from hopyard.testing.tether import TetheredProcess

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.unit

FOREVER = [sys.executable, "-S", "-c", "print('up', flush=True); import signal; signal.pause()"]
DEAF = [
    sys.executable,
    "-S",
    "-c",
    "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); signal.pause()",
]
OWNER = f"""
import sys, pathlib
from hopyard.testing.tether import TetheredProcess
TetheredProcess({FOREVER!r}, log=pathlib.Path(sys.argv[1]))
print("started", flush=True)
input()
"""


def server_of(process: TetheredProcess) -> psutil.Process:
    """The server itself, once its supervisor has started it and it runs."""
    supervisor = psutil.Process(process._supervisor.pid)
    wait_for(lambda: "up" in process.last_lines())
    (server,) = supervisor.children()
    return server


def wait_for(condition: Callable[[], bool], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s"
        time.sleep(0.01)


def has_ended(process: psutil.Process) -> bool:
    """Whether it is gone, or is an orphan's remains that init has yet to collect."""
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_stop_returns_when_the_server_is_gone(tmp_path: Path) -> None:
    process = TetheredProcess(FOREVER, log=tmp_path / "log")
    server = server_of(process)
    process.stop()
    assert not server.is_running()
    assert not process.is_running


def test_kill_returns_when_the_server_is_gone(tmp_path: Path) -> None:
    process = TetheredProcess(DEAF, log=tmp_path / "log")
    server = server_of(process)
    process.kill()
    assert not server.is_running()


def test_a_server_that_ends_by_itself_is_seen_to_have_ended(tmp_path: Path) -> None:
    with TetheredProcess([sys.executable, "-S", "-c", "print('bye')"], log=tmp_path / "log") as process:
        wait_for(lambda: not process.is_running)
        assert process.last_lines() == "bye"


def test_server_dies_with_its_supervisor(tmp_path: Path) -> None:
    with TetheredProcess(FOREVER, log=tmp_path / "log") as process:
        server = server_of(process)
        process._supervisor.send_signal(signal.SIGKILL)
        wait_for(lambda: has_ended(server))


def test_server_dies_with_its_owner_even_while_a_fork_of_the_owner_lives(tmp_path: Path) -> None:
    forking = OWNER.replace("input()", "import os; os.fork(); input()")
    with subprocess.Popen(
        [sys.executable, "-c", forking, str(tmp_path / "log")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as owner:
        assert owner.stdout is not None
        owner.stdout.readline()
        wait_for(lambda: "up" in (tmp_path / "log").read_text())
        descendants = psutil.Process(owner.pid).children(recursive=True)
        servers = [process for process in descendants if FOREVER[-1] in process.cmdline()]
        assert len(servers) == 2  # the server and its supervisor, whose command line holds the server's
        os.kill(owner.pid, signal.SIGKILL)
        wait_for(lambda: all(map(has_ended, servers)))


def test_server_outlives_the_thread_that_started_it(tmp_path: Path) -> None:
    started: list[TetheredProcess] = []
    thread = threading.Thread(target=lambda: started.append(TetheredProcess(FOREVER, log=tmp_path / "log")))
    thread.start()
    thread.join()
    with started[0] as process:
        assert server_of(process).is_running()
