"""A driver program that fails while its nodes run: it ends with its own error, and its nodes with it."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from hopyard.testing.processes import still_running, with_variable

pytestmark = pytest.mark.cluster

PROCESSES = """
    import hopyard

    def train():
        import time
        time.sleep(600)

    cluster = hopyard.Cluster(train, nodes=2, backend="processes").start()
    cluster.ready()
    raise ValueError("the program's own error")
"""

SERVERS_BESIDE_THE_DRIVER = """
    import hopyard
    from tensorflowonspark import TFCluster

    def train(args, ctx):
        import time
        time.sleep(600)

    spark = hopyard.local_spark(executors=1, memory="512m")
    cluster = TFCluster.run(spark.sparkContext, train, None, 2, 1, driver_ps_nodes=True)
    raise ValueError("the program's own error")
"""


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(PROCESSES, id="processes"),
        pytest.param(SERVERS_BESIDE_THE_DRIVER, id="servers beside the driver", marks=pytest.mark.spark),
    ],
)
def test_a_program_that_raises_ends_with_its_own_error_and_its_nodes(
    program: str, hopyard_root: Path, tmp_path: Path
) -> None:
    script = tmp_path / "program.py"
    script.write_text(textwrap.dedent(program))
    try:
        ended = subprocess.run(
            [sys.executable, str(script)], capture_output=True, text=True, timeout=90, check=False
        )
        assert ended.returncode == 1, ended.stderr
        assert "ValueError: the program's own error" in ended.stderr
        assert not still_running(with_variable("HOPYARD_ROOT", str(hopyard_root)), 15)
    finally:
        for left in with_variable("HOPYARD_ROOT", str(hopyard_root)):
            left.kill()
