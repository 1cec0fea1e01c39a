from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import psutil
import pytest
import s3fs

from hopyard.testing.processes import descendants, still_running

if TYPE_CHECKING:
    from hopyard.testing.s3_server import S3Server

pytestmark = pytest.mark.s3

HOLDER = """
from hopyard.testing.s3_server import S3Server
with S3Server() as server:
    print("ready", flush=True)
    input()
"""


def test_s3fs_reads_back_what_it_wrote(s3_server: S3Server) -> None:
    files = s3fs.S3FileSystem(**s3_server.storage_options)
    path = f"{s3_server.new_bucket()}/folder/file"
    files.pipe_file(path, b"content")
    assert files.cat_file(path) == b"content"


def test_each_new_bucket_is_another_empty_one(s3_server: S3Server) -> None:
    files = s3fs.S3FileSystem(**s3_server.storage_options)
    first, second = s3_server.new_bucket(), s3_server.new_bucket()
    files.pipe_file(f"{first}/file", b"content")
    assert files.ls(second) == []


def test_server_ends_when_its_owner_is_killed() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == b"ready\n"
        processes = psutil.Process(owner.pid).children(recursive=True)
        assert descendants(owner.pid, "moto.server")
        os.kill(owner.pid, signal.SIGKILL)
        alive = still_running(processes, 10)
    assert alive == []
