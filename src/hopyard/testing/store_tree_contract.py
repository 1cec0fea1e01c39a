"""The part of the store contract on folders, names in them, removal and moves."""

# ruff: noqa: D102  the names of the tests are sentences

from __future__ import annotations

import time

import pytest

from hopyard.errors import AlreadyExists, FolderNotEmpty, InvalidName, NotAFolder, PathNotFound
from hopyard.store import Project


class TreeContract:
    """Tests for a fixture `project`: a new, empty project."""

    def test_list_gives_direct_children_sorted_by_name(self, project: Project) -> None:
        project.put("folder/b", b"12345")
        project.put("folder/a", b"")
        project.put("folder/c/below", b"1")
        found = [(entry.name, entry.path, entry.size, entry.is_dir) for entry in project.list("folder")]
        assert found == [
            ("a", "folder/a", 0, False),
            ("b", "folder/b", 5, False),
            ("c", "folder/c", 0, True),
        ]
        assert project.list("folder/") == project.list("folder")

    def test_list_of_the_project_shows_what_is_at_its_top(self, project: Project) -> None:
        project.put("folder/file", b"")
        project.put("file", b"")
        assert [entry.path for entry in project.list()] == ["file", "folder"]

    def test_names_that_start_alike_do_not_mix(self, project: Project) -> None:
        project.put("run.1/file", b"")
        project.put("run.10/other", b"")
        project.put("run.1.txt", b"")
        assert [entry.path for entry in project.list("run.1")] == ["run.1/file"]
        project.remove("run.1", recursive=True)
        assert [entry.path for entry in project.list()] == ["run.1.txt", "run.10"]

    def test_listing_what_is_no_folder_raises(self, project: Project) -> None:
        project.put("file", b"")
        with pytest.raises(NotAFolder):
            project.list("file")
        with pytest.raises(PathNotFound):
            project.list("nothing")

    def test_fresh_project_does_not_exist_until_something_is_written(self, project: Project) -> None:
        assert not project.exists()
        with pytest.raises(PathNotFound):
            project.list()
        project.put("file", b"")
        assert project.is_dir()

    def test_walk_yields_all_files_below(self, project: Project) -> None:
        for path in ("top/a", "top/b/c", "top/b/d/e", "other"):
            project.put(path, b"")
        assert {entry.path for entry in project.walk("top")} == {"top/a", "top/b/c", "top/b/d/e"}
        with pytest.raises(PathNotFound):
            list(project.walk("nothing"))

    def test_made_folder_is_there_and_empty(self, project: Project) -> None:
        project.mkdir("folder/below")
        project.mkdir("folder/below")
        assert project.is_dir("folder/below")
        assert project.list("folder/below") == []
        assert [entry.path for entry in project.list("folder")] == ["folder/below"]

    def test_folder_cannot_take_the_place_of_a_file(self, project: Project) -> None:
        project.put("file", b"content")
        with pytest.raises(NotAFolder):
            project.mkdir("file")
        assert project.read("file") == b"content"

    def test_info_tells_files_from_folders(self, project: Project) -> None:
        project.put("folder/file", b"123")
        file, folder = project.info("folder/file"), project.info("folder/")
        assert (file.name, file.path, file.size, file.is_dir) == ("file", "folder/file", 3, False)
        assert (folder.name, folder.path, folder.is_dir) == ("folder", "folder", True)
        assert abs(file.modified - time.time()) < 300
        with pytest.raises(PathNotFound):
            project.info("nothing")

    def test_existence_of_files_folders_and_nothing(self, project: Project) -> None:
        project.put("folder/file", b"")
        assert project.exists("folder/file")
        assert project.exists("folder")
        assert not project.exists("nothing")
        assert project.is_dir("folder")
        assert not project.is_dir("folder/file")
        assert not project.is_dir("nothing")

    def test_removed_file_is_gone_and_can_be_created_again(self, project: Project) -> None:
        project.put("folder/file", b"1")
        project.remove("folder/file")
        assert not project.exists("folder/file")
        project.create("folder/file", b"2")
        with pytest.raises(PathNotFound):
            project.remove("nothing")

    def test_folder_that_holds_something_is_removed_only_on_request(self, project: Project) -> None:
        project.put("folder/below/file", b"")
        project.mkdir("folder/empty")
        with pytest.raises(FolderNotEmpty):
            project.remove("folder")
        project.remove("folder/empty")
        assert not project.exists("folder/empty")
        project.remove("folder", recursive=True)
        assert not project.exists("folder")
        assert not project.exists("folder/below/file")

    def test_moved_file_has_only_its_new_path(self, project: Project) -> None:
        project.put("a/file", b"content")
        project.move("a/file", "new/folder/file")
        assert project.read("new/folder/file") == b"content"
        assert not project.exists("a/file")

    def test_move_replaces_a_file_only_on_request(self, project: Project) -> None:
        project.put("a", b"a")
        project.put("b", b"b")
        with pytest.raises(AlreadyExists):
            project.move("a", "b")
        assert (project.read("a"), project.read("b")) == (b"a", b"b")
        project.move("a", "b", overwrite=True)
        assert project.read("b") == b"a"
        assert not project.exists("a")

    def test_moved_folder_takes_all_along(self, project: Project) -> None:
        project.put("a/x", b"x")
        project.put("a/b/y", b"y")
        project.move("a", "c/d")
        assert {entry.path for entry in project.walk("c")} == {"c/d/x", "c/d/b/y"}
        assert not project.exists("a")

    def test_move_never_replaces_or_enters_a_folder(self, project: Project) -> None:
        project.put("file", b"file")
        project.put("full/a", b"a")
        project.put("other/b", b"b")
        project.mkdir("empty")
        for source in ("file", "other"):
            for target in ("full", "empty"):
                with pytest.raises(AlreadyExists):
                    project.move(source, target, overwrite=True)
        with pytest.raises(AlreadyExists):
            project.move("full", "file", overwrite=True)
        assert {entry.path for entry in project.walk()} == {"file", "full/a", "other/b"}

    def test_moving_nothing_raises_path_not_found(self, project: Project) -> None:
        project.put("file", b"")
        with pytest.raises(PathNotFound):
            project.move("nothing", "new")
        with pytest.raises(PathNotFound):
            project.move("nothing", "file", overwrite=True)
        assert project.exists("file")

    def test_moving_to_where_it_is_loses_nothing(self, project: Project) -> None:
        project.put("a/file", b"content")
        project.move("a/file", "a/file", overwrite=True)
        with pytest.raises(AlreadyExists):
            project.move("a/file", "a/file")
        with pytest.raises(InvalidName):
            project.move("a", "a/b")
        assert project.read("a/file") == b"content"
