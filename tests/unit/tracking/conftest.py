from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hopyard.store import Project
from hopyard.tracking import RunWriter


class Clock:
    """A clock that stands still until it is told."""

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(str(tmp_path), "demo")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def begin(project: Project, clock: Clock) -> Callable[..., RunWriter]:
    """Begins a run; each keyword replaces one of its plain values."""

    def begin_with(**changes: object) -> RunWriter:
        values = {
            "app_id": "app-1",
            "kind": "launcher",
            "name": "digits",
            "nodes": 2,
            "backend": "inline",
            "clock": clock,
        }
        return RunWriter.begin(project, **(values | changes))  # type: ignore[arg-type]

    return begin_with
