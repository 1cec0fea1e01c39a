"""The rows that are fed: 784 float32 and a label, the same in every run.

As a folder of Parquet files below ``build`` for the sides that read a DataFrame, and as record batches.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
from benchmarks.feed_rate import FEATURES, ROW_BYTES

from hopyard.feed.pieces import PIECE_BYTES

FILES = 8
PIECE_ROWS = PIECE_BYTES // ROW_BYTES
GROUP_ROWS = 4096
FOLDER = Path(__file__).resolve().parents[1] / "build" / "feed-data"


def batch(rows: int, seed: int) -> pyarrow.RecordBatch:
    """Returns rows whose columns are x, a list of 784 floats, and y, an integer from 0 to 9."""
    random = np.random.default_rng(seed)
    starts = np.arange(rows + 1, dtype=np.int32) * FEATURES
    values = pyarrow.array(random.random(rows * FEATURES, dtype=np.float32))
    images = pyarrow.ListArray.from_arrays(starts, values)
    return pyarrow.record_batch({"x": images, "y": random.integers(0, 10, rows, dtype=np.int32)})


def parquet_folder(rows: int) -> Path:
    """Returns a folder with that many rows in several files, which are written the first time."""
    folder = FOLDER / f"{rows}-rows"
    for number in range(FILES):
        path = folder / f"part-{number:05}.parquet"
        if not path.is_file():
            _write(batch(rows // FILES, seed=number), path)
    return folder


def _write(rows: pyarrow.RecordBatch, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}")
    # random floats: neither a dictionary nor compression would make them smaller
    pyarrow.parquet.write_table(
        pyarrow.Table.from_batches([rows]),
        part,
        row_group_size=GROUP_ROWS,
        use_dictionary=False,
        compression="none",
    )
    os.replace(part, path)
