from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

import psutil
import pytest

from hopyard.errors import PathNotFound, ServerNotReady
from hopyard.store import Project
from hopyard.tensorboard import TensorBoardServer, visualize
from hopyard.testing.processes import descendants, still_running

pytestmark = pytest.mark.tensorflow  # TensorBoard loads TensorFlow where there is one

Events = Callable[[Iterable[float]], bytes]
Scalars = Callable[[str, str, int], list[float]]
FOLDER = "Logs/TensorFlow/app/launcher/run.1"
FILE = f"{FOLDER}/events.out.tfevents.1.host"


def own_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "hopyard-tensorboard"]


def own_processes() -> list[psutil.Process]:
    """Returns the servers that this process has started."""
    return descendants(os.getpid(), "tensorboard.main")


def test_runs_are_watched_while_they_go_on_and_nothing_is_left_behind(
    events: Events, scalars: Scalars
) -> None:
    project = Project("memory://server", "watched")
    project.put(FILE, events([3.0, 2.0]))
    server = TensorBoardServer("Logs/TensorFlow/app", project=project, refresh_seconds=0.2)
    with server:
        assert scalars(server.url, "launcher/run.1", 2) == [3.0, 2.0]
        project.put(FILE, events([3.0, 2.0, 1.0]))
        project.put(FILE.replace("run.1", "run.2"), events([5.0]))
        assert scalars(server.url, "launcher/run.1", 3) == [3.0, 2.0, 1.0]
        assert scalars(server.url, "launcher/run.2", 1) == [5.0]
        processes = own_processes()
        assert processes
    assert not server.is_running
    assert own_threads() == []
    assert [process for process in processes if process.is_running()] == []


def test_a_wrong_path_is_told_before_anything_is_started() -> None:
    with pytest.raises(PathNotFound, match="no-such-run"):
        visualize("Logs/TensorFlow/no-such-run")
    assert own_processes() == []


def test_a_server_that_cannot_start_says_why_and_leaves_nothing(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ServerNotReady, match=rf"it ended(.|\n)*{port}"):
            TensorBoardServer(str(tmp_path), port=port).start()
    assert own_processes() == []
    assert own_threads() == []


def test_a_dropped_server_of_a_plain_folder_goes_on_and_kill_9_of_its_program_ends_it(
    tmp_path: Path, events: Events, scalars: Scalars
) -> None:
    (tmp_path / "mine/first").mkdir(parents=True)
    (tmp_path / "mine/first/events.out.tfevents.1.host").write_bytes(events([1.0]))
    program = """
import gc, sys, time
from hopyard.tensorboard import visualize
print(visualize(sys.argv[1]).url, flush=True)
gc.collect()
print("dropped", flush=True)
time.sleep(600)
"""
    command = [sys.executable, "-c", program, str(tmp_path / "mine")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        url = owner.stdout.readline().strip()
        assert owner.stdout.readline() == "dropped\n"
        assert scalars(url, "first", 1) == [1.0]
        family = psutil.Process(owner.pid).children(recursive=True)
        assert len(family) > 1
        owner.kill()
        alive = still_running(family, 20)
    assert not alive
