"""Habits that made the predecessors hard to live with do not come back."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.unit

DRAWERS = {"utils", "util", "helpers", "helper", "common", "misc"}
DRAWERS_ALLOWED = {
    "facades/hops/src/hops/util.py": "a module of the old library, under its old name",
    "facades/tensorflowonspark/src/tensorflowonspark/util.py": "a module of the old library, under its old name",
}
LATE_ALLOWED = {
    "src/hopyard/worker/entry.py": "the node's main program: what it does at the end has to come after the user's hooks",
}
SLEEPS_ALLOWED = {
    "src/hopyard/spark/preflight/room.py": "asks Spark how many executors are there, with a deadline",
    "src/hopyard/spark/session/embedded.py": "asks Spark how many executors are there, with a deadline",
    "src/hopyard/testing/mini_hdfs.py": "asks a foreign server whether it is up, with a deadline",
    "src/hopyard/testing/processes.py": "looks whether foreign processes are gone, with a deadline",
    "src/hopyard/testing/s3_server.py": "asks a foreign server whether it is up, with a deadline",
    "src/hopyard/testing/standalone.py": "asks a foreign server whether it is up, with a deadline",
    "src/hopyard/testing/watching.py": "looks at what foreign processes leave, with a deadline",
}


def found(source, matches: Callable[[ast.AST], bool]) -> list[str]:
    """Returns the places at which a node matches."""
    return [module.at(node) for module in source for node in ast.walk(module.tree) if matches(node)]


def is_attribute(node: ast.AST, owner: str, name: str) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and node.attr == name
        and isinstance(node.value, ast.Name)
        and node.value.id == owner
    )


def imports(node: ast.AST, module: str, name: str | None = None) -> bool:
    if isinstance(node, ast.Import):
        return name is None and any(alias.name == module for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        return node.module == module and (name is None or any(alias.name == name for alias in node.names))
    return False


def raises_anything(node: ast.AST) -> bool:
    if not isinstance(node, ast.Raise):
        return False
    raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    return isinstance(raised, ast.Name) and raised.id in ("Exception", "BaseException")


def swallows(node: ast.AST) -> bool:
    return isinstance(node, ast.ExceptHandler) and all(
        isinstance(statement, ast.Pass)
        or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
        for statement in node.body
    )


def test_no_module_is_a_drawer_for_odds_and_ends(source):
    drawers = [
        m.path
        for m in source
        if DRAWERS & set(Path(m.path).with_suffix("").parts) and m.path not in DRAWERS_ALLOWED
    ]
    assert drawers == []


def test_no_function_changes_globals(source):
    assert found(source, lambda node: isinstance(node, ast.Global)) == []


def test_no_exception_is_caught_without_a_name(source):
    assert found(source, lambda node: isinstance(node, ast.ExceptHandler) and node.type is None) == []


def test_no_exception_is_swallowed(source):
    assert found(source, swallows) == []


def test_every_raised_error_has_a_class_of_its_own(source):
    assert found(source, raises_anything) == []


def test_nothing_sleeps(source):
    awake = [module for module in source if module.path not in SLEEPS_ALLOWED]
    assert (
        found(awake, lambda node: is_attribute(node, "time", "sleep") or imports(node, "time", "sleep")) == []
    )


def test_nothing_waits_for_the_end_of_the_interpreter(source):
    others = [module for module in source if module.path not in LATE_ALLOWED]
    assert found(others, lambda node: imports(node, "atexit")) == []


def test_only_the_command_line_prints(source):
    quiet = [module for module in source if not module.path.startswith("src/hopyard/cli/")]
    assert (
        found(
            quiet,
            lambda node: (
                isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
            ),
        )
        == []
    )


def test_every_module_says_what_it_is(source):
    assert [module.path for module in source if not ast.get_docstring(module.tree)] == []
