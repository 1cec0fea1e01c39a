"""What a search or a launch leaves for people, as the old library did: a summary, printed and kept, and the metric of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hops import logger
from hops.paths import place
from hopyard.search.trial.result import Wanted, read_result

if TYPE_CHECKING:
    from hopyard.run.result import RunResult
    from hopyard.search.study.study import Study

METRIC = "metric"
SUMMARY = "summary"


def tell_results(study: Study, algorithm: str, direction: str) -> None:
    """Prints best, worst and mean of a search, and keeps them in its folder.

    Args:
        study: What came of it.
        algorithm: What it is called.
        direction: Which values are better, ``max`` or ``min``.
    """
    text = results(study, algorithm, direction)
    folder = place(study.logdir)
    folder.project.put(f"{folder.relative}/{SUMMARY}", f"{text}\n".encode())
    logger.log(f"{text}\nFinished Experiment: {study.logdir}")


def results(study: Study, algorithm: str, direction: str) -> str:
    """Returns best, worst and mean of a search in the lines of the old library."""
    ended = [trial for trial in study.trials if trial.value is not None]
    ended.sort(key=lambda trial: trial.value or 0.0, reverse=direction.lower() == "max")
    lines = [f"------ {algorithm} results ------ direction({direction.lower()})"]
    if ended:
        mean = sum(trial.value or 0.0 for trial in ended) / len(ended)
        lines += [
            f"BEST combination {ended[0].folder} -- metric {ended[0].value}",
            f"WORST combination {ended[-1].folder} -- metric {ended[-1].value}",
            f"AVERAGE metric -- {mean}",
        ]
    if len(ended) < len(study.trials):
        lines.append(f"WITHOUT a metric -- {len(study.trials) - len(ended)} of {len(study.trials)}")
    return "\n".join(lines)


def keep_metric(result: RunResult, key: str | None) -> None:
    """Keeps the number that a function returned as the metric of its run; there need not be one.

    Args:
        result: What came of the run.
        key: Where the number is, if a dict was returned; otherwise it is the only one in it.
    """
    metric = _metric(result.value, key or METRIC)
    if metric is not None:
        folder = place(result.logdir)
        folder.project.put(f"{folder.relative}/{METRIC}", str(metric).encode())
    logger.log(f"Finished Experiment: {result.logdir}")


def _metric(value: Any, key: str) -> float | None:
    if isinstance(value, Mapping) and key not in value and key != METRIC:
        return None
    values = read_result(value, (key,), Wanted.ANYTHING).values
    return values[0] if values else None
