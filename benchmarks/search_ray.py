"""Runs studies of trials that do nothing, with Ray Tune; answers as `search_ours`."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

# before Ray is loaded; its workers would else give way to whatever else the machine does, which no other side's do
os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}

import ray
from benchmarks.feed_answers import answer
from benchmarks.search_pace import pace
from ray import tune

SLOTS = 2
OBJECT_STORE_BYTES = 256 << 20  # a third of the machine's memory else


def nothing(config: dict[str, float]) -> dict[str, float]:
    """A trial."""
    return {"value": config["x"]}


class Ends(tune.Callback):
    """Remembers when trials ended."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def on_trial_complete(self, *_: Any, **__: Any) -> None:
        """Takes the time; Ray calls it."""
        self.times.append(time.time())


def measure(folder: Path, *, trials: int) -> dict[str, float]:
    """Returns how long a trial took."""
    ends = Ends()
    called = time.time()
    tuner = tune.Tuner(
        nothing,
        param_space={"x": tune.uniform(0, 1)},
        tune_config=tune.TuneConfig(
            metric="value", mode="max", num_samples=trials, max_concurrent_trials=SLOTS, reuse_actors=True
        ),
        run_config=tune.RunConfig(storage_path=str(folder / "results"), verbose=0, callbacks=[ends]),
    )
    results = tuner.fit()
    seconds = time.time() - called
    if results.errors:
        sys.exit(f"a trial failed: {results.errors[0]}")
    return pace(seconds, ends.times, trials)


if __name__ == "__main__":
    place = Path(sys.argv[1])
    with ray.init(
        num_cpus=SLOTS,
        include_dashboard=False,
        log_to_driver=False,
        object_store_memory=OBJECT_STORE_BYTES,
        _temp_dir=str(place / "ray"),
    ):
        answer(lambda question: measure(place, **question))
