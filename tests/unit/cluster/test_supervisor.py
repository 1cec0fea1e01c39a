from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path

import cloudpickle
import pytest

from hopyard import NodeContext, Project
from hopyard.cluster.node import NodeTask
from hopyard.cluster.plan import Plan
from hopyard.cluster.supervisor import Supervisor
from hopyard.tracking import NodeState, RunId, RunReader

pytestmark = pytest.mark.unit


def task(function: object, app_id: str = "app") -> NodeTask:
    return NodeTask(
        node=Plan.of(1).nodes[0],
        size=1,
        run_id=RunId(app_id, "launcher", 1),
        project=Project.open(),
        payload=cloudpickle.dumps(function),
    )


def test_a_failure_of_the_supervisor_itself_is_an_outcome_with_its_cause() -> None:
    outcome = Supervisor(task(print, app_id="not:possible")).run()
    assert outcome.record.state is NodeState.FAILED
    assert outcome.record.message is not None
    assert outcome.record.message.startswith("its supervisor could not go on (InvalidName: 'not:possible'")
    assert "check_name" in (outcome.record.traceback or "")


def test_a_node_that_is_stopped_before_it_starts_does_not_start() -> None:
    supervisor = Supervisor(task(print))
    supervisor.stop()
    record = supervisor.run().record
    assert (record.state, record.message) == (NodeState.KILLED, "it was stopped: the driver said so")


def test_the_folder_of_the_driver_is_searched_for_modules() -> None:
    folder = Path(Project.open().root, "code")
    folder.mkdir()
    (folder / "only_here.py").write_text("ANSWER = 42")
    code = "lambda: __import__('only_here').ANSWER"
    searching = replace(task(eval(code)), search_path=(str(folder), "/no/such/folder"))
    assert str(folder) not in sys.path
    assert Supervisor(searching).run().result() == 42


def wait_until_its_file_and_its_line_are_in_the_project() -> str:
    """Returns once what it left can be read by others, while it still runs."""
    ctx = NodeContext.current()
    Path(ctx.logdir, "early").write_text("early")
    print("early line", flush=True)
    run = RunReader(ctx.project, ctx.run_id)
    deadline = time.monotonic() + 30
    while not (ctx.project.exists("Logs/TensorFlow/app/launcher/run.1/early") and "early line" in run.log()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return "seen"


def test_files_and_output_are_in_the_project_while_the_node_runs() -> None:
    syncing = replace(task(wait_until_its_file_and_its_line_are_in_the_project), sync_seconds=0.05)
    assert Supervisor(syncing).run().result() == "seen"
