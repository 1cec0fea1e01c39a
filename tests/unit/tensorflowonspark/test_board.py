"""Which folder the TensorBoard of a cluster shows."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from hopyard.store import Project
from tensorflowonspark.board import LogDirTensorBoard, boards

pytestmark = pytest.mark.unit


def test_local_folder_is_shown_whether_it_is_there_or_not(tmp_path: Path):
    folder = tmp_path / "model"
    assert boards(str(folder), 6006) == (LogDirTensorBoard(log_dir=str(folder), port=6006),)
    assert not folder.exists()  # the executor, which may be another machine, makes it


def test_folder_of_a_remote_project_is_made_before_it_is_shown(monkeypatch):
    monkeypatch.setenv("HOPYARD_ROOT", "memory://board")
    project = Project.open()
    (board,) = boards(project.url("Models/mnist"), 0)
    assert project.is_dir("Models/mnist")
    assert board.log_dir == project.url("Models/mnist")


def test_remote_folder_outside_of_projects_is_left_out_with_a_warning(caplog):
    with caplog.at_level(logging.WARNING):
        assert boards("hdfs://namenode/user/me/model", 0) == ()
    assert "hdfs://namenode/user/me/model" in caplog.text
