"""Modules and functions stay small enough to be read in one go."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.unit

MODULE_LINES = 350
FUNCTION_LINES = 60
NESTED_LINES = 12

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def length(node: ast.AST) -> int:
    return node.end_lineno - node.lineno + 1


def lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Returns the lines of a function without its docstring: a well-documented argument is not too much code."""
    documented = ast.get_docstring(function) is not None
    return length(function) - (length(function.body[0]) if documented else 0)


def nested(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for outer in ast.walk(tree):
        if isinstance(outer, FUNCTIONS):
            yield from (node for node in ast.walk(outer) if isinstance(node, FUNCTIONS) and node is not outer)


def test_modules_are_short(source):
    long = {module.path: len(module.text.splitlines()) for module in source}
    assert {path: lines for path, lines in long.items() if lines > MODULE_LINES} == {}


def test_functions_are_short(source):
    functions = [(m, node) for m in source for node in ast.walk(m.tree) if isinstance(node, FUNCTIONS)]
    assert [f"{m.at(f)} {f.name}: {lines(f)}" for m, f in functions if lines(f) > FUNCTION_LINES] == []


def test_nested_functions_are_tiny(source):
    functions = [(module, node) for module in source for node in nested(module.tree)]
    assert [f"{m.at(f)} {f.name}: {lines(f)}" for m, f in functions if lines(f) > NESTED_LINES] == []
