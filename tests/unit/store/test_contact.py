from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from hopyard.errors import RootUnusable, StoreUnreachable
from hopyard.store import Project
from hopyard.store.contact import SECONDS, make_contact
from hopyard.store.defaults import REACHED_VARIABLE
from hopyard.store.location import Location
from hopyard.store.registry import connect

from . import unwell_servers as servers

pytestmark = pytest.mark.unit

PATIENCE = 2.0
Place = Callable[[], AbstractContextManager[str]]


def contact(kind: str, address: str, seconds: float = PATIENCE) -> str:
    """Returns what the first contact with a server says."""
    root = "s3://bucket/x" if kind == "s3" else f"{kind}://{address}/x"
    options = {"key": "k", "secret": "s", "endpoint_url": f"http://{address}"} if kind == "s3" else {}
    files = connect(Location.parse(root), options)
    with pytest.raises(StoreUnreachable) as caught:
        make_contact(files, root, "/x/Projects/demo", seconds)
    assert str(caught.value).startswith(f"{root} cannot be reached: ")
    return str(caught.value)


@pytest.mark.parametrize("kind", ["hdfs", "webhdfs", "s3"])
@pytest.mark.parametrize(
    ("place", "reason"),
    [
        (servers.unknown, "the host of {} is unknown. Check HOPYARD_ROOT"),
        (servers.refusing, "nothing listens at {} (connection refused). Check HOPYARD_ROOT"),
        (servers.silent, "{} does not answer (waited 2 s). Check HOPYARD_ROOT"),
        (servers.dropping, "{} does not answer (waited 2 s). Check HOPYARD_ROOT"),
        (servers.ssh, "{} is a server that says 'SSH-2.0-OpenSSH_9.6', not"),
    ],
)
def test_server_that_cannot_be_used_is_named_soon_with_its_port(kind: str, place: Place, reason: str) -> None:
    with place() as address:
        began = time.monotonic()
        text = contact(kind, address)
        assert time.monotonic() - began < PATIENCE + 5  # the clients themselves would take minutes
    assert reason.format(address) in text


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("hdfs", "is a web server, not a NameNode"),
        ("webhdfs", "answers, but not as WebHDFS"),
        ("s3", "answers, but not as S3"),
    ],
)
def test_web_server_is_no_store(kind: str, words: str) -> None:
    with servers.web() as address:
        assert f"{address} {words}" in contact(kind, address, seconds=5)


@pytest.mark.parametrize(
    ("status", "code", "reason"),
    [
        (
            403,
            "InvalidAccessKeyId",
            "the S3 server {} does not let you in (No such key). Check key and secret",
        ),
        (403, "AccessDenied", "the S3 server {} does not let you in (No such key). Check key and secret"),
        (404, "NoSuchBucket", "the S3 server {} has no bucket 'bucket'. Make the bucket"),
    ],
)
def test_refusal_of_an_s3_server_is_told_in_one_sentence(status: int, code: str, reason: str) -> None:
    body = f"<Error><Code>{code}</Code><Message>No such key.</Message></Error>"
    head = f"HTTP/1.1 {status} No\r\nContent-Type: application/xml\r\nContent-Length: {len(body)}\r\n"
    with servers.saying(f"{head}Connection: close\r\n\r\n{body}".encode()) as address:
        options = {"key": "k", "secret": "s", "endpoint_url": f"http://{address}"}
        project = Project.open("s3://bucket/x", "demo", storage_options=options)
        with pytest.raises(RootUnusable) as caught:
            project.list()
    assert str(caught.value).startswith(
        "the project root s3://bucket/x cannot be used: " + reason.format(address)
    )


@pytest.mark.parametrize("root", ["hdfs://yard", "hdfs://"])
def test_nameservice_that_is_not_configured_is_told(root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HADOOP_CONF_DIR", raising=False)
    monkeypatch.delenv("HADOOP_HOME", raising=False)
    with pytest.raises(StoreUnreachable, match=r"as in hdfs://namenode:8020, or let HADOOP_CONF_DIR"):
        Project.open(root, "demo").list()


def test_nameservice_names_all_its_servers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    with servers.refusing() as one, servers.refusing() as two:
        settings = {
            "fs.defaultFS": "hdfs://yard",
            "dfs.nameservices": "yard",
            "dfs.ha.namenodes.yard": "a, b",
            "dfs.namenode.rpc-address.yard.a": one,
            "dfs.namenode.rpc-address.yard.b": two,
        }
        each = "".join(
            f"<property><name>{n}</name><value>{v}</value></property>" for n, v in settings.items()
        )
        for file in ("core-site.xml", "hdfs-site.xml"):
            (tmp_path / file).write_text(f"<configuration>{each}</configuration>")
        with pytest.raises(StoreUnreachable) as caught:
            Project.open("hdfs://", "demo").list()
    assert f"nothing listens at {one} (connection refused) and nothing listens at {two}" in str(caught.value)


def test_first_contact_of_a_command_takes_less_than_ten_seconds() -> None:
    assert SECONDS < 9


def test_command_says_in_one_line_which_server_is_down() -> None:
    with servers.refusing() as address:
        command = [sys.executable, "-m", "hopyard", "--root", f"hdfs://{address}", "runs"]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"error: hdfs://{address} cannot be reached: nothing listens at {address}")
    assert ended.stderr.count("\n") == 1


def test_process_that_is_told_so_does_not_make_sure_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with servers.refusing() as address:
        project = Project.open(f"webhdfs://{address}", "demo")
        for name, value in project.to_env().items():
            monkeypatch.setenv(name, value)
        assert os.environ[REACHED_VARIABLE] == project.root
        project.reach()


def test_project_that_is_reached_patiently_is_asked_nothing() -> None:
    with servers.refusing() as address:
        Project.open(f"hdfs://{address}", "demo").reach(patiently=True)


# --- roots on a disk -------------------------------------------------------------------------------


def test_root_that_is_a_file_is_told_to_readers_and_writers(tmp_path: Path) -> None:
    root = tmp_path / "file"
    root.write_text("")
    for call in (Project.list, Project.reach, lambda project: project.put("a", b"")):
        with pytest.raises(RootUnusable, match=f"the project root {root} cannot be used: it is a file"):
            call(Project.open(str(root), "demo"))


def test_root_that_cannot_be_made_is_told_to_readers_and_writers() -> None:
    for call in (Project.list, Project.reach, lambda project: project.put("a", b"")):
        with pytest.raises(RootUnusable, match=r"no folder can be made in /proc \(.*HOPYARD_ROOT"):
            call(Project.open("/proc/x/y", "demo"))


def test_look_at_a_root_that_is_not_there_leaves_nothing(tmp_path: Path) -> None:
    assert not Project.open(str(tmp_path / "a/b"), "demo").exists()
    assert list(tmp_path.iterdir()) == []


READ_ONLY = """
import os, subprocess, sys
from hopyard.errors import NotWritable, RootUnusable
from hopyard.store import Project

root = sys.argv[1]
Project.open(root, "full").put("kept", b"1")
subprocess.run(["mount", "--bind", root, root], check=True)
subprocess.run(["mount", "-o", "remount,ro,bind", root], check=True)
full, new = Project.open(root, "full"), Project.open(root, "new")
print(full.read("kept"))
for project, call in ((full, Project.put), (full, Project.create), (new, Project.put), (new, Project.exists)):
    try:
        call(project, "b", *([b""] if call is not Project.exists else []))
    except (NotWritable, RootUnusable) as error:
        print(type(error).__name__, error)
"""


def may_mount() -> bool:
    return subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not may_mount(), reason="only root may mount")
def test_folder_that_is_mounted_read_only_is_read_and_told_to_writers(tmp_path: Path) -> None:
    command = ["unshare", "-m", sys.executable, "-c", READ_ONLY, str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    kept, put, create, other, reader = ended.stdout.splitlines()
    assert kept == "b'1'"
    assert put == create
    assert put.startswith(f"NotWritable {tmp_path}/Projects/full/b cannot be written: Read-only file system.")
    assert other == reader
    assert other.startswith(
        f"RootUnusable the project root {tmp_path} cannot be used: no folder can be made in"
    )
