from __future__ import annotations

import threading

import psutil
import pytest

from hopyard import Project
from hopyard.tensorboard.live import LiveTensorBoard

pytestmark = pytest.mark.unit


def test_a_run_that_ends_at_once_does_not_wait_for_its_tensorboard() -> None:
    project = Project.open()
    project.put("Logs/TensorFlow/app/launcher/run.1/run.json", b"{}")
    told: list[str] = []
    before = set(psutil.Process().children(recursive=True))
    with LiveTensorBoard("Logs/TensorFlow/app/launcher/run.1", told.append, project=project):
        pass
    assert told == []
    assert not set(psutil.Process().children(recursive=True)) - before
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("hopyard-tensorboard")]
