from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hopyard.scratch import scratch_folder

pytestmark = pytest.mark.unit

OWNER = """
import pathlib, sys
from hopyard.scratch import scratch_folder
with scratch_folder("test", base=pathlib.Path(sys.argv[1])) as folder:
    print(folder, flush=True)
    input()
"""


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return tmp_path / "scratch"


def start_owner(base: Path) -> tuple[subprocess.Popen[bytes], Path]:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(base)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert owner.stdout is not None
    return owner, Path(owner.stdout.readline().decode().strip())


def test_folder_and_its_content_are_removed_at_the_end(base: Path) -> None:
    with scratch_folder("test", base=base) as folder:
        (folder / "file").write_text("content")
    assert not folder.exists()


def test_folder_of_a_killed_owner_is_removed_by_the_next(base: Path) -> None:
    owner, folder = start_owner(base)
    with owner:
        os.kill(owner.pid, signal.SIGKILL)
    assert folder.is_dir()
    with scratch_folder("test", base=base):
        assert not folder.exists()


def test_folder_of_a_living_owner_is_left_alone(base: Path) -> None:
    owner, folder = start_owner(base)
    with owner:
        with scratch_folder("test", base=base):
            assert folder.is_dir()
        os.kill(owner.pid, signal.SIGKILL)


def test_folder_without_an_owner_file_is_removed_by_the_next(base: Path) -> None:
    half_removed = base / "test-1"
    half_removed.mkdir(parents=True)
    with scratch_folder("test", base=base):
        assert not half_removed.exists()


def test_other_users_cannot_look_in(base: Path) -> None:
    with scratch_folder("test", base=base) as folder:
        assert base.stat().st_mode & 0o077 == 0
        assert folder.stat().st_mode & 0o077 == 0
