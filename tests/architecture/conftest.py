"""The project's own text as a value: what the tests of its architecture look at."""

from __future__ import annotations

import ast
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """A Python file: where it is, what it says."""

    path: str  # from the project's root
    text: str
    tree: ast.Module

    @classmethod
    def read(cls, file: Path) -> Module:
        text = file.read_text()
        return cls(path=str(file.relative_to(ROOT)), text=text, tree=ast.parse(text, str(file)))

    def at(self, node: ast.AST) -> str:
        return f"{self.path}:{getattr(node, 'lineno', 0)}"


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's folder."""
    return ROOT


@pytest.fixture(scope="session")
def source() -> list[Module]:
    """Every module that is shipped."""
    files = [*ROOT.glob("src/**/*.py"), *ROOT.glob("facades/*/src/**/*.py")]
    return [Module.read(file) for file in sorted(files)]


@pytest.fixture(scope="session")
def test_modules() -> list[Module]:
    """Every module of tests."""
    return [Module.read(file) for file in sorted(ROOT.glob("tests/**/test_*.py"))]


@pytest.fixture(scope="session")
def pyproject() -> dict[str, Any]:
    """The packaging and tool settings."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())
