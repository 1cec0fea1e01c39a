"""Texts of Spark 4.3, shortened in the middle, and what a user is told instead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from hopyard.spark.failure import LONGEST_CAUSE, known_cause, summary

pytestmark = pytest.mark.unit

JAVA = "\n\tat org.apache.spark.api.python.BasePythonRunner(PythonRunner.scala:600)\n\nDriver stacktrace:\n\tat more"
LOST = "Job aborted due to stage failure: Task 0 in stage 0.0 failed 1 times, most recent failure: Lost task 0.0: "


@dataclass(frozen=True)
class Application:
    pythonExec: str = "/usr/bin/python3"  # noqa: N815  Spark's name


def cause(text: str) -> str | None:
    context: Any = Application()
    return known_cause(RuntimeError(f"{LOST}{text}{JAVA}"), context)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "Traceback (most recent call last):\nModuleNotFoundError: No module named 'hopyard'\n",
            "the executors' Python (/usr/bin/python3) has no module 'hopyard'.",
        ),
        (
            "pyspark.errors.exceptions.base.PySparkRuntimeError: [PYTHON_VERSION_MISMATCH] Python in worker has "
            "different version: 3.12 than that in driver: 3.11, PySpark cannot run with different minor versions.",
            "the executors' Python (/usr/bin/python3) is 3.12, and that of the driver 3.11.",
        ),
        (
            'java.io.IOException: Cannot run program "/no/such/python": error=2, No such file or directory',
            "the executors have no Python '/no/such/python'.",
        ),
    ],
    ids=["module", "version", "program"],
)
def test_executors_without_the_right_python_are_told_with_the_setting(text: str, told: str) -> None:
    found = cause(text)
    assert found is not None
    assert found.startswith(told)
    assert "PYSPARK_PYTHON" in found
    assert "\n" not in found


def test_what_a_node_says_of_an_address_it_cannot_reach_is_all_that_is_told() -> None:
    assert cause("\nhopyard.errors.DriverOutOfReach: no way to 10.0.0.1.\n") == "no way to 10.0.0.1."


def test_of_other_errors_the_part_before_the_stack_of_the_driver_is_told() -> None:
    assert cause("out of memory") is None
    assert summary(RuntimeError(f"out of memory{JAVA}")).startswith("out of memory\n\tat org.apache.spark")
    assert "Driver stacktrace" not in summary(RuntimeError(f"out of memory{JAVA}"))
    assert len(summary(RuntimeError("x" * 2 * LONGEST_CAUSE))) == LONGEST_CAUSE
