"""Modules, functions and folders stay small enough to be read in one go."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

pytestmark = pytest.mark.unit

MODULE_LINES = 500
FOLDER_MODULES = 20
FUNCTION_LINES = 60

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def length(node: ast.AST) -> int:
    return node.end_lineno - node.lineno + 1


def lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Returns the lines of a function without its docstring: a well-documented argument is not too much code."""
    documented = ast.get_docstring(function) is not None
    return length(function) - (length(function.body[0]) if documented else 0)


def test_modules_are_short(source):
    long = {module.path: len(module.text.splitlines()) for module in source}
    assert {path: lines for path, lines in long.items() if lines > MODULE_LINES} == {}


def test_functions_are_short(source):
    functions = [(m, node) for m in source for node in ast.walk(m.tree) if isinstance(node, FUNCTIONS)]
    assert [f"{m.at(f)} {f.name}: {lines(f)}" for m, f in functions if lines(f) > FUNCTION_LINES] == []


def test_folders_hold_few_modules(source):
    folders = Counter(
        str(Path(module.path).parent) for module in source if not module.path.endswith("__init__.py")
    )
    allowed = {
        "facades/hops/src/hops": "the modules of the old library, under their old names",
        "facades/tensorflowonspark/src/tensorflowonspark": "the modules of the old library, under their old names",
    }
    assert {f: n for f, n in folders.items() if n > FOLDER_MODULES and f not in allowed} == {}
