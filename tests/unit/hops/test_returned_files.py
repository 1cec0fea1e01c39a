"""Files that a function names in what it returns."""

from __future__ import annotations

import inspect
import threading
from pathlib import Path

import pytest

import hopyard
from hops.eras import Era
from hops.returned_files import keeping
from hopyard.errors import NotPicklable
from hopyard.search.api import grid_search
from hopyard.store import Project

pytestmark = pytest.mark.unit

LOCK = threading.Lock()


def draw(x: int, ctx: hopyard.NodeContext) -> dict[str, object]:
    """Draws."""
    import tempfile

    folder = tempfile.mkdtemp()
    Path(folder, "plot.png").write_bytes(b"pixels")
    Path(ctx.logdir, "model").write_bytes(b"weights")
    return {"metric": x, "plot": f"{folder}/plot.png", "model": f"{ctx.logdir}/model", "name": "none.png"}


def hold_a_lock() -> None:
    LOCK.acquire()


def test_a_file_that_a_function_returns_is_kept_with_its_run() -> None:
    result = hopyard.launch(keeping(draw, Era.TUPLES), {"x": 1}, backend="processes")
    project = Project.open()
    assert project.read(f"{project.relative(result.logdir)}/plot.png") == b"pixels"


def test_a_file_that_a_trial_returns_is_kept_with_it() -> None:
    study = grid_search(keeping(draw, Era.TUPLES), {"x": [3]}, backend="processes", parallel=1)
    project = Project.open()
    assert project.read(f"{project.relative(study.trial_logdir(study.best_trial))}/plot.png") == b"pixels"


def test_earlier_releases_kept_none() -> None:
    assert keeping(draw, Era.BEST) is draw


def test_the_function_keeps_its_name_and_its_signature() -> None:
    kept = keeping(draw, Era.TUPLES)
    assert (kept.__name__, kept.__doc__) == ("draw", "Draws.")
    assert list(inspect.signature(kept).parameters) == ["x", "ctx"]


def test_a_variable_that_cannot_travel_is_named_as_ever() -> None:
    with pytest.raises(NotPicklable, match="the global variable 'LOCK'"):
        hopyard.launch(keeping(hold_a_lock, Era.TUPLES), backend="processes")
