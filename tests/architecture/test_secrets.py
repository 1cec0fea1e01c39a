"""What is secret is not printed: the text of a value ends up in a log, and a run's log is there for all to read."""

from __future__ import annotations

import ast
import importlib
from dataclasses import fields
from pathlib import PurePosixPath
from typing import Any

import pytest

pytestmark = pytest.mark.unit

SECRET = {"environment", "key", "keys", "options", "password", "secret", "secrets", "token", "tokens"}
NOT_SECRET = {
    ("hops.label", "Label"): "its key is the name of a metric",
    ("hopyard.search.trial.result", "TrialResult"): "its key is the name of a metric",
}
MARK = "not to be shown"


def is_secret(name: str) -> bool:
    return bool(SECRET & set(name.split("_")))


def secret_fields(node: ast.ClassDef) -> list[str]:
    """Returns the names of a dataclass's fields that hold something secret; none for other classes."""
    if not any("dataclass" in ast.unparse(decorator) for decorator in node.decorator_list):
        return []
    declared = (each.target for each in node.body if isinstance(each, ast.AnnAssign))
    return [target.id for target in declared if isinstance(target, ast.Name) and is_secret(target.id)]


def built(kind: type[Any]) -> object:
    """Returns a value of a dataclass without running its checks; all that it holds is the mark."""
    value = object.__new__(kind)
    for field in fields(kind):
        object.__setattr__(value, field.name, MARK if is_secret(field.name) else field.name)
    return value


def imported(path: str) -> str:
    """Returns the name under which a module of a file is imported."""
    parts = PurePosixPath(path).with_suffix("").parts
    return ".".join(parts[parts.index("src") + 1 :])


def test_no_value_shows_what_is_secret(source):
    holders = {
        (imported(module.path), node.name)
        for module in source
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ClassDef) and secret_fields(node)
    }
    assert len(holders) >= 8
    kinds = [
        getattr(importlib.import_module(module), name) for module, name in sorted(holders - set(NOT_SECRET))
    ]
    assert [kind.__qualname__ for kind in kinds if MARK in repr(built(kind))] == []
