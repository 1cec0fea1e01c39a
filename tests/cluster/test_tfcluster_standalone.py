"""Programs of TensorFlowOnSpark on a standalone Spark that was started by hand, and on threads."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hopyard.testing.standalone import StandaloneSpark
from hopyard.testing.watching import wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.tensorflow, pytest.mark.timeout(300)]

LINE_PROGRAM = Path(__file__).with_name("line_program.py")
FEED_PROGRAM = Path(__file__).with_name("feed_program.py")
STREAM_PROGRAM = Path(__file__).with_name("stream_program.py")
STOP_PROGRAM = Path(__file__).with_name("stop_streaming.py")
LISTENING = re.compile(r"listening for reservations at (\S+) (\d+)\n")


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


def environment(master: str) -> dict[str, str]:
    # executors that compile less eagerly start in half the time
    java = "--conf spark.executor.extraJavaOptions=-XX:TieredStopAtLevel=1"
    return {
        **os.environ,
        "PYSPARK_SUBMIT_ARGS": f"--master {master} --conf spark.executor.memory=512m {java} pyspark-shell",
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }


def submit(program: Path, master: str, folder: Path, *options: str) -> None:
    """Runs a program to its end, which has to be a good one."""
    ended = subprocess.run(
        [sys.executable, str(program), "--cluster_size", "2", *options],
        env=environment(master),
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


def test_streaming_program_is_ended_by_another_process(tmp_path: Path) -> None:
    incoming, output, log = tmp_path / "in", tmp_path / "out", tmp_path / "log"
    incoming.mkdir()
    output.mkdir()
    environ = environment("local-cluster[2,1,512]")
    command = [sys.executable, str(STREAM_PROGRAM), "--input", str(incoming), "--output", str(output)]
    with (
        log.open("w") as file,
        subprocess.Popen(command, env=environ, cwd=tmp_path, stdout=file, stderr=file) as driver,
    ):
        try:
            wait_until(lambda: LISTENING.search(log.read_text()) is not None, "the driver listens", 120)
            wait_until(lambda: arrives(incoming, output), "a node gets rows", 60)
            stop = [sys.executable, str(STOP_PROGRAM), *LISTENING.findall(log.read_text())[0]]
            subprocess.run(stop, env=environ, timeout=60, check=True)
            assert driver.wait(90) == 0, log.read_text()
        finally:
            driver.kill()
    assert "the program has ended" in log.read_text()
    assert sorted(file.name for file in output.glob("*.done")) == ["chief-0.done", "worker-0.done"]


def arrives(incoming: Path, output: Path) -> bool:
    """Tells whether rows have arrived, and sends some: files that came before the stream began are not read."""
    if any(output.glob("*.txt")):
        return True
    new = incoming.with_name("next")
    new.write_text("1,2\n3,4\n")
    new.rename(incoming / f"{len(os.listdir(incoming))}.csv")
    return False
