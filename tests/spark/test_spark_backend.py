from __future__ import annotations

import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import hopyard
from hopyard import Project
from hopyard.backends.base import Backend
from hopyard.backends.spark import SparkBackend
from hopyard.errors import BackendFailed, NotPicklable
from hopyard.testing.backend_contract import ProcessContract
from hopyard.testing.detaching import DetachingBackend
from hopyard.testing.node_functions import serve_for_ever, square
from hopyard.tracking import NodeState, RunReader

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


class TestSpark(ProcessContract):
    @pytest.fixture
    def backend(self, spark: SparkSession) -> Backend:
        return SparkBackend(spark.sparkContext)


class TestDetaching(ProcessContract):
    @pytest.fixture
    def backend(self, spark: SparkSession) -> Backend:
        return DetachingBackend(spark.sparkContext)


def test_the_active_session_is_used_by_default(spark: SparkSession) -> None:
    result = hopyard.launch(square, {"x": 3})
    assert result.value == 9
    assert result.run_id.startswith(spark.sparkContext.applicationId)


@pytest.mark.parametrize("backend", [SparkBackend, DetachingBackend])
def test_a_parameter_server_beside_the_driver_is_ended_in_peace_when_the_spark_job_is_over(
    spark: SparkSession, backend: type[SparkBackend]
) -> None:
    result = hopyard.launch(
        serve_for_ever, nodes=2, ps=1, driver_ps_nodes=True, backend=backend(spark.sparkContext)
    )
    assert result.values[1] is None
    _, outcome = RunReader(Project.open(), result.run_id).outcomes()
    assert (outcome.state, outcome.message) == (
        NodeState.FINISHED,
        "it was ended when the training was done",
    )


def test_a_captured_session_is_refused_at_once_by_name(spark: SparkSession) -> None:
    def uses_the_session() -> object:
        return spark.range(3).count()

    began = time.monotonic()
    with pytest.raises(NotPicklable, match="the closure variable 'spark'"):
        hopyard.launch(uses_the_session)
    assert time.monotonic() - began < 5


def test_executors_without_hopyard_are_told_with_what_to_do(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare_python = str(Path(sys.base_prefix, "bin", "python3"))
    monkeypatch.setattr(spark.sparkContext, "pythonExec", bare_python)
    monkeypatch.delitem(spark.sparkContext.environment, "PYTHONPATH", raising=False)
    for call in (
        lambda: hopyard.launch(square, {"x": 3}),
        lambda: hopyard.grid_search(square, {"x": [1, 2]}),
    ):
        with pytest.raises(BackendFailed) as caught:
            call()
        assert re.search(
            rf"executors' Python \({bare_python}\) has no module '\w+'. Let PYSPARK_PYTHON", str(caught.value)
        )
        assert caught.value.__cause__ is None  # Java's stack would follow
