"""A program of TensorFlowOnSpark on a standalone Spark that was started by hand."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hopyard.testing.standalone import StandaloneSpark

pytestmark = [pytest.mark.cluster, pytest.mark.tensorflow, pytest.mark.timeout(300)]

PROGRAM = Path(__file__).with_name("line_program.py")


def test_program_runs_unchanged_on_a_master_with_two_workers_of_one_core(tmp_path: Path) -> None:
    with StandaloneSpark(workers=2) as cluster:
        environ = {
            **os.environ,
            "PYSPARK_SUBMIT_ARGS": f"--master {cluster.url} --conf spark.executor.memory=512m pyspark-shell",
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_LOCAL_IP": "127.0.0.1",
        }
        options = ("--cluster_size", "2", "--model_dir", str(tmp_path / "model"))
        ended = subprocess.run(
            [sys.executable, str(PROGRAM), *options],
            env=environ,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=240,
        )
    assert ended.returncode == 0, ended.stderr
    weights = [json.loads(file.read_text()) for file in sorted((tmp_path / "model").iterdir())]
    assert len(weights) == 2
    assert weights[0] == weights[1] == pytest.approx(3.0, abs=0.01)
    assert "chief:0 of 2" in next(tmp_path.rglob("logfile")).read_text()
