"""Every dependency names the module that needs it, and every hint to install one is right."""

from __future__ import annotations

import ast
import re
import tomllib
from typing import TYPE_CHECKING

import pytest

import hopyard
from hopyard.foreign_package import FACADES

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.unit

MODULE_NAMES = re.compile(r"#\s*([a-z0-9_.]+?(?:, [a-z0-9_.]+?)*)(?:[:.]\s|$)")


def modules_named(comment: str) -> list[str]:
    """Returns the modules that a comment like ``# store.hdfs, session: why`` begins with."""
    match = MODULE_NAMES.match(comment.strip())
    return match.group(1).split(", ") if match else []


def exists(root: Path, module: str) -> bool:
    path = root / "src" / "hopyard" / module.replace(".", "/")
    return path.is_dir() or path.with_suffix(".py").is_file()


def test_every_extra_names_the_module_that_needs_it(root, pyproject):
    lines = (root / "pyproject.toml").read_text().splitlines()
    for extra in pyproject["project"]["optional-dependencies"]:
        at = next(number for number, line in enumerate(lines) if line.startswith(f"{extra} = ["))
        named = modules_named(lines[at - 1])
        assert named, f"the line above {extra!r} names no module"
        assert [module for module in named if not exists(root, module)] == []


def test_every_core_dependency_names_the_module_that_needs_it(root, pyproject):
    lines = (root / "pyproject.toml").read_text().splitlines()
    for dependency in pyproject["project"]["dependencies"]:
        line = next(line for line in lines if line.strip().startswith(f'"{dependency}"'))
        _, hash_sign, comment = line.partition("#")
        named = modules_named(hash_sign + comment)
        assert named, f"{dependency!r} names no module"
        assert [module for module in named if not exists(root, module)] == []


def test_every_hint_to_install_an_extra_names_one_that_exists(source, pyproject):
    extras = pyproject["project"]["optional-dependencies"]
    hints = [
        (module.at(call), call.args[2].value)
        for module in source
        for call in ast.walk(module.tree)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id == "MissingDependency"
        and len(call.args) == 3
        and isinstance(call.args[2], ast.Constant)
    ]
    assert [hint for hint in hints if hint[1] not in extras] == []


def test_constraints_are_exact_and_fit_any_build(root):
    pins = [line for line in (root / "constraints.txt").read_text().splitlines() if line and line[0] != "#"]
    assert [pin for pin in pins if not re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][0-9a-z.]*", pin)] == []


@pytest.mark.parametrize("name", FACADES)
def test_facade_has_hopyards_version_and_asks_for_no_other(root, pyproject, name):
    facade = tomllib.loads((root / "facades" / name / "pyproject.toml").read_text())["project"]
    ours = [each for each in facade["dependencies"] if each.startswith("hopyard")]
    assert {facade["version"], *(each.partition("==")[2] for each in ours)} == {hopyard.__version__}
    for field in ("requires-python", "license"):
        assert facade[field] == pyproject["project"][field]


@pytest.mark.parametrize("name", FACADES)
def test_extra_of_the_same_name_brings_the_facade(pyproject, name):
    assert pyproject["project"]["optional-dependencies"][name] == [f"hopyard-{name}"]


def test_every_facade_is_checked_and_installed(root, pyproject):
    assert {each.name for each in (root / "facades").iterdir() if each.is_dir()} == set(FACADES)
    sources = {f"facades/{name}/src" for name in FACADES}
    assert sources <= set(pyproject["tool"]["mypy"]["mypy_path"].split(":"))
    assert set(FACADES) <= set(pyproject["tool"]["mypy"]["packages"])
    assert set(FACADES) <= set(pyproject["tool"]["importlinter"]["root_packages"])
    assert {f"facades/{name}" for name in FACADES} <= set(
        re.findall(r"facades/[a-z]+", (root / "scripts" / "install.py").read_text())
    )


def test_every_python_that_is_allowed_has_a_classifier(pyproject):
    allowed = re.findall(r"3\.(\d+)", pyproject["project"]["requires-python"])
    named = [
        int(each.rpartition("3.")[2])
        for each in pyproject["project"]["classifiers"]
        if "Python :: 3." in each
    ]
    assert named == list(range(int(allowed[0]), int(allowed[1])))
