"""A framework is known to its own modules, and to nobody else; the registry names every one."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hopyard.frameworks.base import Framework
from hopyard.frameworks.registry import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.unit

HERE = "src/hopyard/frameworks/"
SHARED = {"__init__", "base", "batch_form", "joined", "registry", "selection", "source"}
NAMES = re.compile(
    r"tensorflow(?!onspark)|\btf\b|tf_|keras|torch|\bjax(\b|_)|xla|cuda_alloc|absl|lightning", re.IGNORECASE
)
ELSEWHERE = {
    "src/hopyard/cli/demo/demo.py": "the demo is a program of Keras",
    "src/hopyard/cli/demo/digits.py": "the demo is a program of Keras",
    "src/hopyard/cli/doctor/extras.py": "tells a user which are installed, by their names on PyPI",
    "src/hopyard/errors/feed.py": "a sentence for users of Keras",
    "src/hopyard/feed/driver/at_the_end.py": "a sentence for users",
    "src/hopyard/run/datasets.py": "as_tf_dataset() and as_torch_dataset() are called by users",
    "src/hopyard/run/options.py": "names of options by which users of other libraries look for ours",
    "src/hopyard/run/reporter.py": "as_keras_callback() is called by users",
    "src/hopyard/search/samplers/by_name.py": "the package that Optuna's gp sampler needs",
    "src/hopyard/spark/session/settings.py": "a setting of the Hops library",
    "src/hopyard/store/layout.py": "a folder of the Hops library",
    "src/hopyard/tensorboard/server.py": "TensorBoard's server loads TensorFlow where there is one, and is to be quiet",
    "src/hopyard/testing/backend_contract.py": "checks that each backend tells them of the cluster",
    "src/hopyard/testing/node_functions.py": "checks that each backend tells them of the cluster",
}


def documentation(tree: ast.AST) -> set[int]:
    """Returns the docstrings, by identity."""
    return {
        id(first.value)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
        and node.body
        and isinstance(first := node.body[0], ast.Expr)
    }


def words(tree: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yields the texts and names of a module, apart from what is written about it."""
    documented = documentation(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented:
            yield node.value, node
        elif isinstance(node, ast.Name):
            yield node.id, node
        elif isinstance(node, ast.Attribute):
            yield node.attr, node
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.alias)):
            yield node.name, node
        elif isinstance(node, ast.arg):
            yield node.arg, node
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "", node


def owner(stem: str) -> str | None:
    """Returns the framework that a module of the package is about."""
    return next((kind.name for kind in KINDS if stem == kind.name or stem.startswith(f"{kind.name}_")), None)


def test_names_of_a_framework_are_in_its_own_modules(source):
    named = {
        module.path: [f"{module.at(node)}: {word}" for word, node in words(module.tree) if NAMES.search(word)]
        for module in source
        if module.path.startswith("src/hopyard/") and not module.path.startswith(HERE)
    }
    strangers = {path: found for path, found in named.items() if found and path not in ELSEWHERE}
    assert strangers == {}
    assert {path for path in ELSEWHERE if not named[path]} == set(), "these need no exception any more"


def test_what_all_frameworks_share_names_none(source):
    shared = [m for m in source if m.path.startswith(HERE) and Path(m.path).stem in SHARED - {"registry"}]
    assert [m.at(node) for m in shared for word, node in words(m.tree) if NAMES.search(word)] == []


def test_each_module_of_the_package_is_shared_or_about_one_framework(source):
    stems = {Path(module.path).stem for module in source if module.path.startswith(HERE)}
    assert {stem for stem in stems - SHARED if owner(stem) is None} == set()
    assert {kind.module for kind in KINDS} <= {f"hopyard.frameworks.{stem}" for stem in stems}


def test_the_registry_names_every_framework(source):
    made = {
        (Path(module.path).stem, node.name)
        for module in source
        if module.path.startswith(HERE)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ClassDef)
        and any(isinstance(base, ast.Name) and base.id == Framework.__name__ for base in node.bases)
    }
    assert made == {(kind.name, kind.framework) for kind in KINDS}
    assert {type(kind.load()).__name__ for kind in KINDS} == {kind.framework for kind in KINDS}


def test_a_frameworks_extra_is_one_of_ours(pyproject):
    extras = pyproject["project"]["optional-dependencies"]
    assert {kind.extra for kind in KINDS if kind.extra} <= set(extras)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_what_is_known_of_a_framework_loads_without_it_and_without_the_others(kind):
    program = (
        "import sys\n"
        "from hopyard.frameworks.registry import KINDS\n"
        "ours = {kind.module for kind in KINDS} & set(sys.modules)\n"
        f"[kind.load() for kind in KINDS if kind.name == {kind.name!r}]\n"
        "also = {kind.module for kind in KINDS} & set(sys.modules)\n"
        "print(ours, also, {'numpy', *(kind.name for kind in KINDS)} & set(sys.modules))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert ended.stdout == f"set() {{{kind.module!r}}} set()\n"
