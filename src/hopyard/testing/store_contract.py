"""What every store has to keep: one suite that each back end passes.

A test module of a back end subclasses `StoreContract` and gives it a project::

    class TestMyStore(StoreContract):
        @pytest.fixture
        def project(self) -> Project:
            return Project.open("mystore://…", uuid4().hex)
"""

# ruff: noqa: D102  the names of the tests are sentences

from __future__ import annotations

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hopyard.errors import AlreadyExists, InvalidName, IsAFolder, NotAFolder, PathNotFound
from hopyard.store import FolderSync, Project, SegmentWriter, read_segments
from hopyard.store.fetching import fetch
from hopyard.testing.nasty_names import INVALID_PATHS, NASTY_NAMES
from hopyard.testing.store_concurrency_contract import ConcurrencyContract
from hopyard.testing.store_tree_contract import TreeContract


class StoreContract(ConcurrencyContract, TreeContract):
    """The tests; a subclass gives the fixture `project`: a new, empty project in its store.

    Attributes:
        has_real_folders: A path cannot be a file and a folder at once, and an emptied folder stays.
    """

    has_real_folders = True

    # --- single files ---

    @pytest.mark.parametrize("data", [b"", b"x", bytes(range(256)) * 1000], ids=len)
    def test_put_file_reads_back_as_it_was_written(self, project: Project, data: bytes) -> None:
        project.put("deep/down/file", data)
        assert project.read("deep/down/file") == data

    def test_put_replaces_the_whole_content(self, project: Project) -> None:
        project.put("file", b"a long first content")
        project.put("file", b"short")
        assert project.read("file") == b"short"

    def test_create_refuses_a_taken_path_and_keeps_its_content(self, project: Project) -> None:
        project.create("folder/file", b"first")
        with pytest.raises(AlreadyExists):
            project.create("folder/file", b"second")
        assert project.read("folder/file") == b"first"

    def test_full_paths_of_what_is_in_the_project_are_understood(self, project: Project) -> None:
        project.put(project.url("folder/file"), b"content")
        assert project.read(project.url("folder/file")) == b"content"
        assert [entry.path for entry in project.list(project.url("folder/"))] == ["folder/file"]
        assert project.url(project.url("folder/file")) == project.url("folder/file")
        project.move(project.url("folder/file"), project.url("moved"))
        assert [entry.path for entry in project.walk()] == ["moved"]

    def test_a_copy_for_libraries_that_read_from_disks_is_made_once_for_each_version(
        self, project: Project, tmp_path: Path
    ) -> None:
        project.put("run/model", b"first")
        one = fetch(project, project.url("run/model"), tmp_path)
        written = one.stat().st_mtime_ns
        assert (one.read_bytes(), one.name) == (b"first", "model")
        assert fetch(project, "run/model", tmp_path).stat().st_mtime_ns == written
        project.put("run/model", b"the second")
        assert fetch(project, "run/model", tmp_path).read_bytes() == b"the second"
        assert (fetch(project, "run/", tmp_path) / "model").read_bytes() == b"the second"
        with pytest.raises(PathNotFound):
            fetch(project, "nothing", tmp_path)

    def test_reading_what_is_not_there_raises_path_not_found(self, project: Project) -> None:
        with pytest.raises(PathNotFound):
            project.read("nothing/here")

    def test_errors_name_the_full_path(self, project: Project) -> None:
        with pytest.raises(PathNotFound) as caught:
            project.read("folder/file")
        assert caught.value.path == project.url("folder/file")

    def test_reading_a_folder_raises_is_a_folder(self, project: Project) -> None:
        project.put("folder/file", b"")
        with pytest.raises(IsAFolder):
            project.read("folder")

    def test_write_that_breaks_off_leaves_the_old_content_and_nothing_else(self, project: Project) -> None:
        project.put("folder/old", b"old")
        for path in ("folder/old", "folder/new"):
            with pytest.raises(_BrokenOffError):
                project.write_chunks(path, _breaking_off(), overwrite=True)
        assert project.read("folder/old") == b"old"
        assert [entry.name for entry in project.list("folder")] == ["old"]
        project.remove("folder/old")
        if self.has_real_folders:
            # Would fail if a hidden temporary had been left.
            project.remove("folder")

    def test_file_cannot_be_below_a_file(self, project: Project) -> None:
        if not self.has_real_folders:
            pytest.skip("this store has no real folders")
        project.put("file", b"")
        with pytest.raises(NotAFolder):
            project.put("file/below", b"")
        with pytest.raises(NotAFolder):
            project.mkdir("file/below")
        for look in (project.read, project.list, project.info, project.remove):
            with pytest.raises(PathNotFound):
                look("file/below")

    def test_file_cannot_take_the_place_of_a_folder(self, project: Project) -> None:
        if not self.has_real_folders:
            pytest.skip("this store has no real folders")
        project.put("folder/file", b"")
        with pytest.raises(IsAFolder):
            project.put("folder", b"")
        with pytest.raises(AlreadyExists):
            project.create("folder", b"")

    # --- copies ---

    def test_file_comes_in_and_out_in_pieces(self, project: Project, tmp_path: Path) -> None:
        content = random.Random(1).randbytes(20_000_000)  # noqa: S311  not for secrets
        (tmp_path / "in").write_bytes(content)
        seen: list[tuple[int, int]] = []
        url = project.copy_in(tmp_path / "in", "folder/big", progress=lambda *step: seen.append(step))
        assert url == project.url("folder/big")
        assert seen[-1] == (len(content), len(content))
        assert len(seen) > 1
        assert project.info("folder/big").size == len(content)
        assert project.copy_out("folder/big", tmp_path / "new" / "out") == tmp_path / "new" / "out"
        assert (tmp_path / "new" / "out").read_bytes() == content

    def test_folder_comes_in_and_out_with_all_that_is_below(self, project: Project, tmp_path: Path) -> None:
        (tmp_path / "in" / "below").mkdir(parents=True)
        (tmp_path / "in" / "a b").write_bytes(b"1")
        (tmp_path / "in" / "below" / "c").write_bytes(b"22")
        project.copy_in(tmp_path / "in", "data/set")
        assert {entry.path for entry in project.walk("data")} == {"data/set/a b", "data/set/below/c"}
        project.copy_out("data", tmp_path / "out")
        assert (tmp_path / "out" / "set" / "below" / "c").read_bytes() == b"22"

    def test_copies_replace_only_on_request(self, project: Project, tmp_path: Path) -> None:
        (tmp_path / "file").write_bytes(b"new")
        project.put("file", b"old")
        with pytest.raises(AlreadyExists):
            project.copy_in(tmp_path / "file", "file")
        assert project.read("file") == b"old"
        project.copy_in(tmp_path / "file", "file", overwrite=True)
        assert project.read("file") == b"new"
        with pytest.raises(AlreadyExists):
            project.copy_out("file", tmp_path / "file")

    def test_copying_what_is_not_there_raises_path_not_found(self, project: Project, tmp_path: Path) -> None:
        with pytest.raises(PathNotFound):
            project.copy_in(tmp_path / "nothing", "file")
        with pytest.raises(PathNotFound):
            project.copy_out("nothing", tmp_path / "file")

    # --- names ---

    def test_unusual_names_work_for_files_and_folders(self, project: Project) -> None:
        paths = {f"{name}/{name}": name.encode() for name in NASTY_NAMES}
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(project.put, paths, paths.values()))
            assert list(threads.map(project.read, paths)) == list(paths.values())
        assert [entry.name for entry in project.list()] == sorted(NASTY_NAMES)
        for path in (path for path in paths if len(path) < 40):
            project.move(path, f"{path}2")
            assert [entry.path for entry in project.list(path.partition("/")[0])] == [f"{path}2"]

    def test_invalid_paths_are_refused_before_anything_is_written(self, project: Project) -> None:
        for path in INVALID_PATHS:
            with pytest.raises(InvalidName):
                project.put(path, b"")
            with pytest.raises(InvalidName):
                project.create(path, b"")
            with pytest.raises(InvalidName):
                project.read(path)
        assert not project.exists()

    # --- what stands on it ---

    def test_segments_are_read_in_order_by_a_follower(self, project: Project) -> None:
        for lines in ((b"1", b"2"), (b"3",)):
            with SegmentWriter(project, "metrics/0") as writer:
                for line in lines:
                    writer.append(line)
        segments = list(read_segments(project, "metrics/0"))
        assert [(segment.number, segment.data) for segment in segments] == [(1, b"1\n2\n"), (2, b"3\n")]
        assert [segment.number for segment in read_segments(project, "metrics/0", after=1)] == [2]

    def test_local_folder_is_kept_in_the_project(self, project: Project, tmp_path: Path) -> None:
        (tmp_path / "logs" / "train").mkdir(parents=True)
        (tmp_path / "logs" / "train" / "events").write_bytes(b"1")
        (tmp_path / "logs" / "run.json").write_bytes(b"mine")
        sync = FolderSync(project, tmp_path / "logs", "run", frozenset({"run.json"}))
        sync.sync()
        (tmp_path / "logs" / "train" / "events").write_bytes(b"12")
        sync.final()
        assert project.read("run/train/events") == b"12"
        assert [entry.path for entry in project.list("run")] == ["run/run.json.user", "run/train"]


class _BrokenOffError(Exception):
    """Breaks a write off."""


def _breaking_off() -> Iterator[bytes]:
    yield b"x" * 100_000
    raise _BrokenOffError
