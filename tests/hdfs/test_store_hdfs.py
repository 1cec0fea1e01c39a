import subprocess
import sys
from uuid import uuid4

import pytest

from hopyard.errors import StoreFailed
from hopyard.store import Project
from hopyard.testing.journal_contract import StoreJournalContract
from hopyard.testing.mini_hdfs import MiniHDFS
from hopyard.testing.nasty_names import NASTY_NAMES
from hopyard.testing.store_contract import StoreContract

pytestmark = pytest.mark.hdfs

# A child that leaves through the interpreter's end drops the client that it inherited.
FORK_AND_EXIT = """
import os, sys
from hopyard.store import Project
project = Project.open(sys.argv[1], sys.argv[2])
project.put("parent", b"")
if child := os.fork():
    sys.exit(os.waitpid(child, 0)[1])
project.put("child", b"")
"""


class TestHdfsStore(StoreContract):
    # A file takes half a second: the client waits for the DataNode's report.
    replacements = 8
    races = 3
    kills = 2
    longest_write = 0.8

    @pytest.fixture
    def project(self, mini_hdfs: MiniHDFS) -> Project:
        return Project.open(mini_hdfs.url, uuid4().hex)


class TestJournalOnHDFS(StoreJournalContract):
    @pytest.fixture
    def project(self, mini_hdfs: MiniHDFS) -> Project:
        return Project.open(mini_hdfs.url, uuid4().hex)


def test_url_without_a_host_is_the_default_file_system(mini_hdfs: MiniHDFS) -> None:
    name = uuid4().hex
    Project.open(mini_hdfs.url, name).put("file", b"content")
    project = Project.open("hdfs://", name, storage_options={"fs.defaultFS": mini_hdfs.url})
    assert project.path == f"hdfs:///Projects/{name}/"
    assert project.read("file") == b"content"


def test_forked_child_that_exits_as_programs_do_ends(mini_hdfs: MiniHDFS) -> None:
    name = uuid4().hex
    command = [sys.executable, "-c", FORK_AND_EXIT, mini_hdfs.url, name]
    assert subprocess.run(command, timeout=60, check=False).returncode == 0
    assert Project.open(mini_hdfs.url, name).exists("child")


def test_both_ways_to_hdfs_see_the_same_names(mini_hdfs: MiniHDFS) -> None:
    name = uuid4().hex
    over_http, native = Project.open(mini_hdfs.webhdfs_url, name), Project.open(mini_hdfs.url, name)
    for odd in NASTY_NAMES:
        over_http.put(f"{odd}/{odd}", b"")
    assert {entry.path for entry in native.walk()} == {f"{odd}/{odd}" for odd in NASTY_NAMES}


def test_name_node_that_does_not_answer_is_an_error() -> None:
    once = {"dfs.client.failover.max.attempts": 1}
    project = Project.open("hdfs://127.0.0.1:1", "demo", storage_options=once)
    with pytest.raises(OSError, match="refused"):
        project.read("file")


def test_missing_default_file_system_is_an_error_of_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HADOOP_CONF_DIR", raising=False)
    monkeypatch.delenv("HADOOP_HOME", raising=False)
    with pytest.raises(StoreFailed, match="defaultFS"):
        Project.open("hdfs://", "demo").read("file")
