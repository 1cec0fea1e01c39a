"""A model from one run to the next, in the example."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.tensorflow, pytest.mark.spark, pytest.mark.timeout(400)]
EXAMPLE = Path(__file__).parents[2] / "examples" / "round_trip.py"


def test_the_example_predicts_with_the_model_of_an_earlier_run(spark: SparkSession, tmp_path: Path) -> None:
    example = runpy.run_path(str(EXAMPLE))
    result = example["run_training"](spark, rows=2000)
    assert set(result.value) == {"loss", "val_loss"}
    example["run_prediction"](spark, "houses", str(tmp_path / "predicted"), rows=300)
    predicted = spark.read.parquet(str(tmp_path / "predicted"))
    assert predicted.columns == ["id", "price", "predicted"]
    rows = predicted.collect()
    assert {row.id for row in rows} == {f"house-{number}" for number in range(300)}
    assert max(abs(row.price - row.predicted) for row in rows) < 0.5
