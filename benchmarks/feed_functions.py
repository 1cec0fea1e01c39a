"""What the nodes do with the rows of a DataFrame; apart from `feed_native`, so that they need not import Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.feed_rate import Arrivals

BATCH = 256


def train(folder: str, ctx: Any) -> None:
    arrivals = Arrivals(batch=BATCH)
    feed = ctx.feed()
    while rows := feed.next_batch(BATCH).num_rows:
        arrivals.saw(rows)
    arrivals.leave(Path(folder) / str(ctx.rank))


def train_as_they_come(folder: str, ctx: Any) -> None:
    arrivals = Arrivals(batch=None)
    for batch in ctx.feed():
        arrivals.saw(batch.num_rows)
    arrivals.leave(Path(folder) / str(ctx.rank))


def train_on_arrays(folder: str, ctx: Any) -> None:
    arrivals = Arrivals(batch=BATCH)
    for arrays in ctx.feed().as_numpy(BATCH):
        arrivals.saw(len(arrays["y"]))
    arrivals.leave(Path(folder) / str(ctx.rank))


def infer(folder: str, ctx: Any) -> None:
    arrivals = Arrivals(batch=BATCH)
    feed = ctx.feed()
    while (batch := feed.next_batch(BATCH)).num_rows:
        arrivals.saw(batch.num_rows)
        feed.batch_results({"prediction": np.zeros(batch.num_rows, np.float32)})
    arrivals.leave(Path(folder) / str(ctx.rank))


FUNCTIONS = {"train": train, "iterate": train_as_they_come, "numpy": train_on_arrays, "inference": infer}
