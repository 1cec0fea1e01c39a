from __future__ import annotations

import pytest

from hops import tensorboard
from hopyard.errors import NotInsideRun, NotOffered, PathNotFound

pytestmark = pytest.mark.unit


def test_the_log_folder_is_that_of_the_node_with_a_slash_at_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENSORBOARD_LOGDIR", "/scratch/logdir")
    assert tensorboard.logdir() + "mnist_cnn.pt" == "/scratch/logdir/mnist_cnn.pt"


def test_outside_of_a_run_there_is_no_log_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TENSORBOARD_LOGDIR", raising=False)
    with pytest.raises(NotInsideRun):
        tensorboard.logdir()


def test_a_wrong_path_is_told_before_anything_is_started() -> None:
    with pytest.raises(PathNotFound, match="no-such-run"):
        tensorboard.visualize("/Logs/TensorFlow/no-such-run")


@pytest.mark.parametrize("debugger", ["interactive_debugger", "non_interactive_debugger"])
def test_the_debuggers_say_what_to_use_instead(debugger: str) -> None:
    with pytest.raises(NotOffered, match="enable_dump_debug_info"):
        getattr(tensorboard, debugger)()
