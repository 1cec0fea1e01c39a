"""A project with runs, and the command as a user calls it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from hopyard.cli.main import build_app
from hopyard.store import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project.open(str(tmp_path), "vineyard")


@pytest.fixture
def command(project: Project) -> Callable[..., Result]:
    """Calls ``hopyard`` on the project, in this process."""

    def call(*arguments: str) -> Result:
        options = ["--root", project.root, "--project", project.name]
        return CliRunner().invoke(build_app(), [*options, *arguments], prog_name="hopyard")

    return call
