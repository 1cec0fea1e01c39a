from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from hopyard.errors import BadArguments
from hopyard.feed.driver.sources import check_feedable

pytestmark = pytest.mark.unit

PolarsFrame = type("DataFrame", (), {"__module__": "polars.dataframe.frame"})
PandasOnSpark = type("DataFrame", (), {"__module__": "pyspark.pandas.frame"})


@pytest.mark.parametrize(
    ("data", "name", "instead"),
    [
        (pd.DataFrame({"x": [1]}), "pandas.DataFrame", "spark.createDataFrame(data)"),
        (np.zeros(3), "numpy.ndarray", "spark.createDataFrame(data)"),
        (pa.table({"x": [1]}), "pyarrow.Table", "spark.createDataFrame(data)"),
        (PolarsFrame(), "polars.DataFrame", "spark.createDataFrame(data.to_arrow())"),
        (PandasOnSpark(), "pyspark.DataFrame", "data.to_spark()"),
        ([(1, 2)], "list", "spark.createDataFrame(rows), or spark.sparkContext.parallelize(rows)"),
        ("rows.parquet", "str", "a DataFrame, such as spark.read.parquet(path)"),
        (None, "NoneType", "a DataFrame or an RDD of Spark"),
    ],
    ids=["pandas", "numpy", "arrow", "polars", "pandas on Spark", "list", "path", "nothing"],
)
@pytest.mark.parametrize("call", ["train", "inference"])
def test_data_that_is_not_sparks_is_refused_with_what_to_give(
    call: str, data: object, name: str, instead: str
) -> None:
    with pytest.raises(BadArguments) as caught:
        check_feedable(call, data)
    assert str(caught.value) == (
        f"wrong arguments for {call}(): {name} is not a DataFrame or RDD of Spark; give {instead}."
    )
