from __future__ import annotations

import sys
from collections.abc import Callable

import pytest
from typer.testing import Result

from hopyard import launch
from hopyard.cli.demo.demo import Where, expected_run, require_packages
from hopyard.errors import MissingDependency
from hopyard.store import Project

pytestmark = pytest.mark.unit


def nothing() -> None:
    pass


@pytest.mark.parametrize(
    ("module", "package"), [("keras", "keras"), ("tensorflow", "tensorflow"), ("sklearn", "scikit-learn")]
)
def test_a_missing_package_says_what_to_install(
    module: str, package: str, command: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)  # as if it were not installed
    result = command("demo")
    assert result.exit_code == 1
    assert f"'{package}'" in result.stderr
    assert "pip install 'hopyard[demo]'" in result.stderr


def test_spark_is_needed_only_for_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    require_packages(Where.PROCESSES)
    with pytest.raises(MissingDependency):
        require_packages(Where.SPARK)


def test_the_demo_watches_the_run_that_it_starts(project: Project) -> None:
    result = launch(nothing, backend="inline", project=project)
    assert result.run_id == str(expected_run(None))
