from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hopyard.errors import ForeignScratch
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


def test_a_folder_that_is_not_marked_as_ours_is_left_alone(base: Path) -> None:
    base.mkdir(mode=0o700)
    (base / "photos").mkdir()
    (base / "photos" / "cat.png").write_text("miau")
    with scratch_folder("test", base=base):
        pass
    assert [path.name for path in (base / "photos").iterdir()] == ["cat.png"]


def test_a_mark_that_is_a_link_marks_nothing(base: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").touch()
    folder = base / "photos"
    base.mkdir(mode=0o700)
    folder.mkdir()
    (folder / ".owner").symlink_to(tmp_path / "elsewhere")
    with scratch_folder("test", base=base):
        pass
    assert folder.is_dir()


def test_links_in_the_root_and_in_folders_are_not_followed(base: Path, tmp_path: Path) -> None:
    photos = tmp_path / "photos"
    photos.mkdir()
    (photos / ".owner").touch()
    with scratch_folder("test", base=base) as folder:
        (base / "link").symlink_to(photos)
        (folder / "link").symlink_to(photos)
    with scratch_folder("test", base=base):
        pass
    assert photos.is_dir()
    assert (photos / ".owner").is_file()


def test_a_root_that_is_a_link_to_another_folder_is_refused(base: Path, tmp_path: Path) -> None:
    photos = tmp_path / "home" / "photos"
    photos.mkdir(parents=True)
    photos.parent.chmod(0o700)
    base.symlink_to(photos.parent)
    with (
        pytest.raises(
            ForeignScratch, match=r"is a link to .*/home; .* Remove it, or set TMPDIR to another folder"
        ),
        scratch_folder("test", base=base),
    ):
        pass
    assert photos.is_dir()


def test_a_root_that_is_a_link_to_nowhere_is_refused(base: Path, tmp_path: Path) -> None:
    base.symlink_to(tmp_path / "nowhere")
    with pytest.raises(ForeignScratch, match=r"is a link to .*/nowhere"), scratch_folder("test", base=base):
        pass


def test_a_root_that_is_a_file_is_refused(base: Path) -> None:
    base.touch()
    with pytest.raises(ForeignScratch, match="scratch is not a folder"), scratch_folder("test", base=base):
        pass


def test_a_root_that_others_can_change_is_refused(base: Path) -> None:
    base.mkdir()
    base.chmod(0o755)
    with (
        pytest.raises(ForeignScratch, match="scratch has mode 0755 instead of 0700"),
        scratch_folder("test", base=base),
    ):
        pass


def test_a_root_of_another_user_is_refused(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base.mkdir(mode=0o700)
    monkeypatch.setattr(os, "getuid", lambda: base.stat().st_uid + 1)
    with pytest.raises(ForeignScratch, match="belongs to another user"), scratch_folder("test", base=base):
        pass


def test_what_could_not_be_removed_keeps_its_mark_for_the_next_sweep(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch, scratch_folder("test", base=base) as folder:
        (folder / "data").mkdir()
        patch.setattr(shutil, "rmtree", lambda *_, **__: None)  # as if somebody wrote faster than we remove
    assert sorted(path.name for path in folder.iterdir()) == [".owner", "data"]
    with scratch_folder("test", base=base):
        assert not folder.exists()


def test_other_users_cannot_look_in(base: Path) -> None:
    with scratch_folder("test", base=base) as folder:
        assert base.stat().st_mode & 0o077 == 0
        assert folder.stat().st_mode & 0o077 == 0
