"""Importing Hopyard is cheap, and what is heavy comes when it is used."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import hopyard

pytestmark = pytest.mark.unit

FRAMEWORKS = {"tensorflow", "keras", "torch", "jax"}
HEAVY = {"pyspark", "pyarrow", "pandas", "numpy", "fsspec", "rich", "typer"} | FRAMEWORKS


def loaded_by(statement: str) -> set[str]:
    """Returns the modules that a statement loads in a fresh interpreter."""
    program = (
        "import json, sys\n"
        "before = set(sys.modules)\n"
        f"{statement}\n"
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    return set(json.loads(ended.stdout))


def packages(modules: set[str]) -> set[str]:
    return {module.partition(".")[0] for module in modules}


def test_import_hopyard_loads_nothing_heavy():
    assert packages(loaded_by("import hopyard")) & HEAVY == set()


def test_import_hopyard_loads_few_modules():
    loaded = loaded_by("import hopyard")
    assert len(loaded) < 100
    assert {module for module in loaded if module.startswith("hopyard")} == {"hopyard"}


def test_launch_loads_neither_spark_nor_a_framework():
    assert packages(loaded_by("from hopyard import launch")) & (FRAMEWORKS | {"pyspark"}) == set()


def test_a_node_that_is_fed_loads_what_the_wire_needs():
    assert packages(loaded_by("import hopyard.feed.node.node_feed")) & HEAVY == {"pyarrow", "numpy"}


def test_errors_load_nothing_heavy():
    assert packages(loaded_by("import hopyard.errors")) & HEAVY == set()


@pytest.mark.parametrize("name", hopyard.__all__)
def test_public_name_is_what_it_says(name):
    public = getattr(hopyard, name)
    assert public.__name__.removeprefix("hopyard.") == name  # search is a package that can be called
    assert public.__doc__
