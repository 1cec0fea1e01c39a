from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from typer.testing import Result

from hopyard import launch
from hopyard.store import Project
from hopyard.tracking import NodeWriter, RunState, RunWriter

pytestmark = pytest.mark.unit
Command = Callable[..., Result]


def speak(ctx: object) -> None:
    print(f"node {ctx.rank} speaks: Grüße")  # type: ignore[attr-defined]


def silent() -> None:
    pass


@pytest.mark.parametrize("text", ["last", "talk", "launcher/run.1", "run.1"])
def test_a_run_is_found_by_any_of_its_names(project: Project, command: Command, text: str) -> None:
    launch(speak, name="talk", backend="inline", project=project)
    result = command("logs", text)
    assert (result.exit_code, result.stdout) == (0, "node 0 speaks: Grüße\n")


def test_the_last_run_is_meant_where_none_is_named(project: Project, command: Command) -> None:
    launch(speak, backend="inline", project=project)
    assert command("logs").stdout == "node 0 speaks: Grüße\n"


def test_each_node_has_its_own_log(project: Project, command: Command) -> None:
    launch(speak, nodes=2, backend="inline", project=project)
    assert command("logs", "last", "--node", "1").stdout == "node 1 speaks: Grüße\n"


def test_a_node_that_there_is_none_of_is_refused(project: Project, command: Command) -> None:
    launch(speak, nodes=2, backend="inline", project=project)
    result = command("logs", "--node", "2")
    assert result.exit_code == 2
    assert "nodes 0 to 1" in result.stderr


def test_a_silent_run_says_so_on_standard_error(project: Project, command: Command) -> None:
    launch(silent, backend="inline", project=project)
    result = command("logs")
    assert result.stdout == ""
    assert "printed nothing" in result.stderr


def test_an_unknown_run_is_one_clear_message(command: Command) -> None:
    result = command("logs", "merlot")
    assert result.exit_code == 1
    assert result.stderr.startswith("error: no run in ")
    assert "'merlot'" in result.stderr


def test_following_ends_with_the_run_and_tells_its_state(project: Project, command: Command) -> None:
    run = RunWriter.begin(project, app_id="a", kind="launcher", name="n", nodes=1, backend="spark")
    node = NodeWriter(project, run.id, 0)
    node.log("first")
    node.flush()

    def end() -> None:
        node.log("second")
        node.close()
        run.finish(RunState.FINISHED)

    timer = threading.Timer(0.2, end)
    timer.start()
    result = command("logs", "last", "-f")
    timer.join()
    assert result.stdout == "first\nsecond\n"
    assert "is FINISHED" in result.stderr
