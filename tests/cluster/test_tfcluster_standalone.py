"""Programs of TensorFlowOnSpark on a standalone Spark that was started by hand, and on threads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hopyard.testing.standalone import StandaloneSpark

pytestmark = [pytest.mark.cluster, pytest.mark.tensorflow, pytest.mark.timeout(300)]

LINE_PROGRAM = Path(__file__).with_name("line_program.py")
FEED_PROGRAM = Path(__file__).with_name("feed_program.py")


@pytest.fixture(scope="module")
def standalone() -> Iterator[str]:
    """The address of a master with two workers of one core."""
    with StandaloneSpark(workers=2) as cluster:
        yield cluster.url


@pytest.fixture(params=["two workers of one core", "local[4]"])
def master(request: pytest.FixtureRequest) -> str:
    if request.param == "local[4]":
        return request.param
    return request.getfixturevalue("standalone")


def submit(program: Path, master: str, folder: Path, *options: str) -> None:
    """Runs a program to its end, which has to be a good one."""
    # executors that compile less eagerly start in half the time
    java = "--conf spark.executor.extraJavaOptions=-XX:TieredStopAtLevel=1"
    environ = {
        **os.environ,
        "PYSPARK_SUBMIT_ARGS": f"--master {master} --conf spark.executor.memory=512m {java} pyspark-shell",
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    ended = subprocess.run(
        [sys.executable, str(program), "--cluster_size", "2", *options],
        env=environ,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert ended.returncode == 0, ended.stderr


def weights(folder: Path) -> list[float]:
    return [json.loads(file.read_text()) for file in sorted(folder.glob("*.json"))]


def test_program_that_reads_its_own_data_runs_unchanged(standalone: str, tmp_path: Path) -> None:
    submit(LINE_PROGRAM, standalone, tmp_path, "--model_dir", str(tmp_path / "model"))
    found = weights(tmp_path / "model")
    assert len(found) == 2
    assert found[0] == found[1] == pytest.approx(3.0, abs=0.01)
    assert "chief:0 of 2" in next(tmp_path.rglob("logfile")).read_text()


def test_program_that_is_fed_trains_and_predicts_unchanged(master: str, tmp_path: Path) -> None:
    model, output = tmp_path / "model", tmp_path / "predictions"
    submit(FEED_PROGRAM, master, tmp_path, "--mode", "train", "--model_dir", str(model))
    assert weights(model) == pytest.approx([3.0, 3.0], abs=0.05)
    submit(
        FEED_PROGRAM,
        master,
        tmp_path,
        "--mode",
        "inference",
        "--model_dir",
        str(model),
        "--output",
        str(output),
    )
    lines = [float(line) for part in sorted(output.glob("part-*")) for line in part.read_text().split()]
    assert lines == pytest.approx([3.0 * x for x in range(100)], rel=0.02, abs=1e-6)
