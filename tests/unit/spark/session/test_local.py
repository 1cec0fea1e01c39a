from __future__ import annotations

import subprocess
import sys

import pytest

from hopyard.errors import InvalidSessionSetting, SessionConflict
from hopyard.spark.session import local_spark
from hopyard.spark.session.local import LocalCluster

pytestmark = pytest.mark.unit


def test_importing_the_package_and_asking_for_a_session_loads_no_pyspark() -> None:
    program = """
import sys
import hopyard.spark.session
assert hopyard.spark.session.active_spark() is None
assert not [name for name in sys.modules if name.startswith(("pyspark", "py4j"))]
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_master_says_executors_cores_and_memory_in_mb() -> None:
    assert LocalCluster(executors=3, cores=2, memory="2g").master == "local-cluster[3,2,2048]"


@pytest.mark.parametrize(
    ("argument", "value", "text"),
    [
        ("executors", 0, "executors is 0; give a whole number of at least 1."),
        ("cores", 0, "cores is 0; give a whole number of at least 1."),
        ("gpus", -1, "gpus is -1; give a whole number of at least 0."),
        ("memory", "256m", "memory is '256m'; give at least 512m."),
        (
            "conf",
            {"spark.master": "yarn"},
            "conf['spark.master'] is 'yarn'; use the argument executors, cores and memory instead.",
        ),
    ],
)
def test_an_argument_out_of_range_is_refused_before_anything_starts(
    argument: str, value: object, text: str
) -> None:
    with pytest.raises(InvalidSessionSetting) as refused:
        local_spark(**{argument: value})  # type: ignore[arg-type]
    assert str(refused.value) == text


def test_a_program_of_spark_submit_is_told_to_run_with_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    with pytest.raises(
        SessionConflict, match="spark-submit, which started this program; run the program with python"
    ):
        local_spark()
