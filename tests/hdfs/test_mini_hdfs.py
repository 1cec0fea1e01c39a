from __future__ import annotations

import os
import signal
import subprocess
import sys
import urllib.parse
import urllib.request
import uuid
from pathlib import Path

import hdfs_native
import psutil
import pytest

from hopyard.errors import ServerNotReady
from hopyard.testing.mini_hdfs import MiniHDFS
from hopyard.testing.processes import descendants, still_running

pytestmark = pytest.mark.hdfs

HOLDER = """
from hopyard.testing.mini_hdfs import MiniHDFS
with MiniHDFS() as hdfs:
    print(hdfs.folder, flush=True)
    input()
"""


def put(hdfs: MiniHDFS, path: str, content: bytes) -> None:
    with hdfs_native.Client(hdfs.url).create(path) as file:
        file.write(content)


def get(hdfs: MiniHDFS, path: str) -> bytes:
    with hdfs_native.Client(hdfs.url).read(path) as file:
        return bytes(file.read())


def new_path() -> str:
    return f"/{uuid.uuid4().hex}"


def test_rpc_client_reads_back_what_it_wrote(mini_hdfs: MiniHDFS) -> None:
    path = new_path()
    put(mini_hdfs, path, b"content")
    assert get(mini_hdfs, path) == b"content"


def test_webhdfs_reads_what_the_rpc_client_wrote(mini_hdfs: MiniHDFS) -> None:
    path = new_path()
    put(mini_hdfs, path, b"content")
    address = mini_hdfs.webhdfs_url.replace("webhdfs", "http", 1)
    with urllib.request.urlopen(f"{address}/webhdfs/v1{path}?op=OPEN", timeout=30) as reply:
        assert reply.read() == b"content"


def test_servers_listen_on_loopback_only(mini_hdfs: MiniHDFS) -> None:
    java = descendants(os.getpid(), str(mini_hdfs.folder))
    listening = [
        connection.laddr.ip.removeprefix("::ffff:")
        for process in java
        for connection in process.net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    ]
    assert listening
    assert set(listening) == {"127.0.0.1"}


def test_files_survive_a_crash_of_the_datanode_and_a_restart() -> None:
    with MiniHDFS() as hdfs:
        put(hdfs, "/file", b"content")
        hdfs.kill_datanode()
        hdfs.restart()
        assert get(hdfs, "/file") == b"content"


def test_leaving_the_context_leaves_neither_processes_nor_files() -> None:
    with MiniHDFS() as hdfs:
        folder = hdfs.folder
        servers = descendants(os.getpid(), str(folder))
        assert sum(server.name() == "java" for server in servers) == 2
    assert not folder.exists()
    assert still_running(servers, 0) == []
    assert descendants(os.getpid(), str(folder)) == []


def test_servers_end_when_their_owner_is_killed() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as owner:
        assert owner.stdout is not None
        assert Path(owner.stdout.readline().decode().strip()).is_dir()
        processes = psutil.Process(owner.pid).children(recursive=True)
        assert sum(process.name() == "java" for process in processes) == 2
        os.kill(owner.pid, signal.SIGKILL)
        alive = still_running(processes, 10)
    assert alive == []


def test_a_start_that_fails_shows_the_end_of_the_log(tmp_path: Path) -> None:
    with pytest.raises(ServerNotReady, match="NameNode"):
        MiniHDFS(jars=tmp_path).__enter__()
