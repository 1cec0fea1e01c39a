"""pandas DataFrames in files of the project; ``from hops import pandas_helper``.

Paths are understood as in `hops.hdfs`, and files are replaced. Keywords are those of pandas' own functions.
"""

from __future__ import annotations

import io
from typing import Any

from hops import files
from hopyard.errors import MissingDependency


def read_csv(hdfs_filename: str, **kwds: Any) -> Any:
    """Returns the DataFrame in a CSV file."""
    return _pandas().read_csv(_content(hdfs_filename), **kwds)


def read_json(hdfs_filename: str, **kwds: Any) -> Any:
    """Returns the DataFrame in a JSON file."""
    return _pandas().read_json(_content(hdfs_filename), **kwds)


def read_parquet(hdfs_filename: str, **kwds: Any) -> Any:
    """Returns the DataFrame in a Parquet file."""
    return _pandas().read_parquet(_content(hdfs_filename), **kwds)


def read_excel(hdfs_filename: str, **kwds: Any) -> Any:
    """Returns the DataFrame in an Excel file."""
    return _pandas().read_excel(_content(hdfs_filename), **kwds)


def write_csv(hdfs_filename: str, dataframe: Any, **kwds: Any) -> None:
    """Writes a DataFrame to a CSV file."""
    files.dump(dataframe.to_csv(**kwds), hdfs_filename)


def write_json(hdfs_filename: str, dataframe: Any, **kwds: Any) -> None:
    """Writes a DataFrame to a JSON file."""
    files.dump(dataframe.to_json(**kwds), hdfs_filename)


def write_parquet(hdfs_filename: str, dataframe: Any, **kwds: Any) -> None:
    """Writes a DataFrame to a Parquet file."""
    content = io.BytesIO()
    dataframe.to_parquet(content, **kwds)
    files.dump(content.getvalue(), hdfs_filename)


def _content(hdfs_filename: str) -> io.BytesIO:
    return io.BytesIO(files.load(hdfs_filename))


def _pandas() -> Any:
    try:
        import pandas
    except ModuleNotFoundError as error:
        if error.name != "pandas":
            raise
        raise MissingDependency("pandas", "hops.pandas_helper", "spark") from error
    return pandas
