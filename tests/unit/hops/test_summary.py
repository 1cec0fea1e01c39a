"""What searches and launches leave for people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import hopyard
from hops.summary import keep_metric, tell_results

pytestmark = pytest.mark.unit


def halve(number: int) -> float:
    if number == 5:
        raise ValueError
    return number / 2


def test_a_search_prints_its_best_worst_and_mean_and_keeps_them(capsys: pytest.CaptureFixture[str]) -> None:
    study = hopyard.grid_search(halve, {"number": [4, 1, 5, 7]}, metric="metric", backend="processes")
    capsys.readouterr()
    tell_results(study, "grid search", "MAX")
    lines = [
        "------ grid search results ------ direction(max)",
        "BEST combination number=7 -- metric 3.5",
        "WORST combination number=1 -- metric 0.5",
        "AVERAGE metric -- 2.0",
        "WITHOUT a metric -- 1 of 4",
    ]
    printed = capsys.readouterr().out.splitlines()
    assert printed == [*lines, f"Finished Experiment: {study.logdir}"]
    assert Path(study.logdir, "summary").read_text().splitlines() == lines


@pytest.mark.parametrize(
    ("returned", "key", "kept"),
    [
        (0.5, None, "0.5"),
        ({"accuracy": 0.5}, None, "0.5"),
        ({"accuracy": 0.5, "loss": 2}, "loss", "2.0"),
        ({"accuracy": 0.5, "loss": 2}, None, None),
        ({"accuracy": 0.5}, "loss", None),
        ("text", None, None),
        (None, None, None),
    ],
)
def test_the_number_that_a_run_returns_is_its_metric(
    returned: Any, key: str | None, kept: str | None
) -> None:
    result = hopyard.launch(lambda: returned, backend="inline")
    keep_metric(result, key)
    metric = Path(result.logdir, "metric")
    assert (metric.read_text() if metric.exists() else None) == kept
