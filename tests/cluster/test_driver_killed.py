"""kill -9 of the driver in the middle of a run leaves no process behind."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import psutil
import pytest

from hopyard import Project
from hopyard.tracking import RunState, find_run

pytestmark = [pytest.mark.cluster, pytest.mark.spark]

DRIVER = """
    import sys
    import hopyard

    def train(ctx):
        import subprocess, sys, time
        helper = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"], start_new_session=True)
        print("helper", helper.pid, flush=True)
        open(sys.argv[0] and ctx.path("up"), "w").close()
        time.sleep(600)

    backend = sys.argv[1]
    if backend == "spark":
        with hopyard.local_spark(executors=1, memory="512m") as spark:
            hopyard.launch(train)
    else:
        hopyard.launch(train, backend=backend)
"""


@pytest.mark.parametrize("backend", ["processes", "spark"])
def test_no_process_is_left_15_seconds_after_the_driver_is_killed(backend: str, tmp_path: Path) -> None:
    script = tmp_path / "driver.py"
    script.write_text(textwrap.dedent(DRIVER))
    project = Project.open()
    project.mkdir("")
    driver = subprocess.Popen([sys.executable, str(script), backend])
    with driver:
        wait_for_file(Path(project.path) / "up", driver)
        family = psutil.Process(driver.pid).children(recursive=True)
        assert any("hopyard.cluster.entry" in " ".join(process.cmdline()) for process in family)
        driver.kill()
    _, alive = psutil.wait_procs(family, timeout=15)
    assert not [process for process in alive if process.status() != psutil.STATUS_ZOMBIE]
    run = find_run(project, "train")
    assert run.record().state is RunState.RUNNING
    assert run.state(run.record().updated + 3600) is RunState.LOST


def wait_for_file(path: Path, process: subprocess.Popen[bytes], seconds: float = 90.0) -> None:
    """Waits until a file is there; fails if its writer ends first or takes too long."""
    for _ in range(int(seconds / 0.1)):
        if path.exists():
            return
        try:
            pytest.fail(f"the driver ended with {process.wait(0.1)}")
        except subprocess.TimeoutExpired:
            continue
    pytest.fail(f"{path} is not there after {seconds} s")
