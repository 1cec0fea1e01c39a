"""Every module of tests says which lane it runs in."""

from __future__ import annotations

import ast

import pytest

pytestmark = pytest.mark.unit


def marks(module) -> set[str]:
    """Returns the marks that a module gives to all its tests."""
    return {
        node.attr
        for statement in module.tree.body
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "pytestmark"
        for node in ast.walk(statement.value)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "pytest.mark"
    }


def test_every_test_module_declares_a_lane(test_modules, pyproject):
    lanes = {marker.partition(":")[0] for marker in pyproject["tool"]["pytest"]["ini_options"]["markers"]}
    assert [module.path for module in test_modules if not marks(module) & lanes] == []


def test_no_two_functions_of_a_test_module_have_the_same_name(test_modules):
    twins = []
    for module in test_modules:
        names = [node.name for node in module.tree.body if isinstance(node, ast.FunctionDef)]
        twins += [f"{module.path}: {name}" for name in set(names) if names.count(name) > 1]
    assert twins == []


def test_every_test_name_is_a_sentence(test_modules):
    short = [
        f"{module.at(node)} {node.name}"
        for module in test_modules
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_") and node.name.count("_") < 2
    ]
    assert short == []
