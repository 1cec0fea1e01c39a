"""A study in the hands of Optuna's own dashboard."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

import hopyard
from hopyard.testing.watching import wait_until

pytestmark = pytest.mark.cluster

PROGRAM = Path(sys.executable).with_name("optuna-dashboard")
SECONDS = 60


def product(x: float, y: int) -> float:
    return x * y


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_the_journal_of_a_study_is_opened_by_optunas_dashboard() -> None:
    space = {"x": hopyard.Range(0.0, 1.0), "y": hopyard.Range(1, 5)}
    study = hopyard.random_search(product, space, trials=5, backend="processes", parallel=1, progress=False)
    url = f"http://127.0.0.1:{(port := free_port())}/api/studies"
    answers: list[Any] = []

    def ask() -> bool:
        try:
            with urllib.request.urlopen(f"{url}/0", timeout=5) as answer:
                answers.append(json.load(answer))
        except (urllib.error.URLError, ConnectionError):
            return False
        return True

    command = [PROGRAM, f"{study.logdir}/study.log", "--host", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as dashboard:
        try:
            wait_until(ask, "optuna-dashboard answers", SECONDS)
        finally:
            dashboard.terminate()
    [shown] = answers
    assert shown["name"] == study.run_id
    assert [trial["number"] for trial in shown["trials"]] == [0, 1, 2, 3, 4]
    assert [trial["values"] for trial in shown["trials"]] == [[trial.value] for trial in study.trials]
