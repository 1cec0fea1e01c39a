"""The folder of GPU leases has one user at a time, and says why if it cannot be used."""

from __future__ import annotations

import os
import stat
import time

import pytest

from hopyard.errors import LeaseFolderUnusable
from hopyard.worker.gpus.folder import locked_folder

pytestmark = pytest.mark.unit


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "leases"


def now() -> float:
    return time.monotonic()


def use(folder):
    with locked_folder(folder, until=now()) as fd:
        return os.fstat(fd)


def test_missing_folder_is_made_for_all_users(folder):
    before = os.umask(0o077)
    try:
        use(folder)
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o1777


def test_folder_of_the_administrator_keeps_its_mode(folder):
    folder.mkdir(mode=0o750)
    use(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o750


def test_second_user_is_kept_out_and_told(folder):
    with (
        locked_folder(folder, until=now()),
        pytest.raises(LeaseFolderUnusable, match="another process has it locked"),
    ):
        use(folder)


def test_second_user_comes_in_after_the_first(folder):
    with locked_folder(folder, until=now()) as fd:
        first = os.fstat(fd)
    assert os.path.samestat(use(folder), first)


def test_folder_that_is_removed_by_the_one_before_is_made_again(folder):
    with locked_folder(folder, until=now()):
        folder.rmdir()
    assert os.path.samestat(use(folder), folder.stat())


def test_file_in_its_place_is_told_with_the_setting(folder):
    folder.touch()
    with pytest.raises(LeaseFolderUnusable, match=r"Not a directory.*HOPYARD_LEASE_FOLDER"):
        use(folder)


def test_link_in_its_place_is_not_followed(tmp_path, folder):
    folder.symlink_to(tmp_path)
    with pytest.raises(LeaseFolderUnusable, match="leases"):
        use(folder)


def test_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    with pytest.raises(LeaseFolderUnusable, match="gone/leases"):
        use(tmp_path / "gone" / "leases")
