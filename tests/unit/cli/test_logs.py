from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

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


def begin(project: Project, nodes: int = 3, roles: Sequence[str] = ("chief", "worker", "ps")) -> RunWriter:
    return RunWriter.begin(
        project, app_id="a", kind="launcher", name="n", nodes=nodes, backend="spark", roles=roles
    )


def write(project: Project, run: RunWriter, rank: int, *lines: str, attempt: int = 0) -> None:
    with NodeWriter(project, run.id, rank, attempt) as node:
        for line in lines:
            node.log(line)


@contextmanager
def soon(action: Callable[[], None]) -> Iterator[None]:
    """Lets something happen while the block runs."""
    timer = threading.Timer(0.2, action)
    timer.start()
    yield
    timer.join()


def test_lines_of_several_nodes_carry_role_and_rank(project: Project, command: Command) -> None:
    with begin(project) as run:
        for rank in range(3):
            write(project, run, rank, f"first of {rank}", f"second of {rank}")
    assert command("logs", "--all").stdout.splitlines() == [
        "[chief 0] first of 0",
        "[chief 0] second of 0",
        "[worker 1] first of 1",
        "[worker 1] second of 1",
        "[ps 2] first of 2",
        "[ps 2] second of 2",
    ]


def test_nodes_are_shown_in_the_order_in_which_they_are_named(project: Project, command: Command) -> None:
    with begin(project) as run:
        for rank in range(3):
            write(project, run, rank, f"from {rank}")
    result = command("logs", "--node", "2", "--node", "0", "--node", "2")
    assert result.stdout.splitlines() == ["[ps 2] from 2", "[chief 0] from 0"]


def test_a_run_whose_roles_nobody_told_has_nodes(project: Project, command: Command) -> None:
    with begin(project, nodes=2, roles=()) as run:
        for rank in range(2):
            write(project, run, rank, "line")
    assert command("logs", "--all").stdout.splitlines() == ["[node 0] line", "[node 1] line"]


def test_all_nodes_of_a_run_with_one_need_no_label(project: Project, command: Command) -> None:
    with begin(project, nodes=1, roles=["chief"]) as run:
        write(project, run, 0, "line")
    assert command("logs", "--all").stdout == "line\n"


def test_the_tail_is_that_of_each_node(project: Project, command: Command) -> None:
    with begin(project, nodes=2, roles=["chief", "worker"]) as run:
        for rank in range(2):
            write(project, run, rank, *(f"line {number}" for number in range(5)))
    assert command("logs", "--all", "--tail", "2").stdout.splitlines() == [
        "[chief 0] line 3",
        "[chief 0] line 4",
        "[worker 1] line 3",
        "[worker 1] line 4",
    ]
    assert command("logs", "--tail", "1").stdout == "line 4\n"


def test_one_attempt_is_shown_alone_and_all_of_them_in_order(project: Project, command: Command) -> None:
    with begin(project) as run:
        write(project, run, 0, "first try")
        run.restarted(1, "it failed")
        write(project, run, 0, "second try", attempt=1)
    assert command("logs").stdout == "first try\nsecond try\n"
    assert command("logs", "--attempt", "0").stdout == "first try\n"
    assert command("logs", "--attempt", "1").stdout == "second try\n"


def test_an_attempt_that_there_is_none_of_is_refused(project: Project, command: Command) -> None:
    with begin(project) as run:
        assert "only attempt 0" in command("logs", "--attempt", "1").stderr
        run.restarted(1, "it failed")
        result = command("logs", "--attempt", "2")
    assert result.exit_code == 2
    assert "attempts 0 to 1" in result.stderr


def test_nodes_that_printed_nothing_are_named(project: Project, command: Command) -> None:
    with begin(project) as run:
        write(project, run, 1, "line")
    result = command("logs", "--all")
    assert result.stdout == "[worker 1] line\n"
    assert "Nodes 0, 2 of run" in result.stderr


def test_on_a_terminal_each_node_has_a_colour(
    project: Project, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    with begin(project) as run:
        for rank in range(3):
            write(project, run, rank, "line")
    lines = command("logs", "--all").stdout.splitlines()
    starts = {line.partition("[chief")[0].partition("[worker")[0].partition("[ps")[0] for line in lines}
    assert len(starts) == 3
    assert all(line.startswith("\x1b[") and line.endswith("\x1b[0mline") for line in lines)


def test_on_a_terminal_a_progress_bar_does_not_wipe_the_label_away(
    project: Project, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    with begin(project, nodes=2, roles=["chief", "worker"]) as run:
        write(project, run, 1, "50%\r100%")
    stdout = command("logs", "--all").stdout_bytes.decode()
    assert stdout.endswith("[worker 1] 50%\r[worker 1] 100%\n")


def test_an_unknown_run_is_one_clear_message(command: Command) -> None:
    result = command("logs", "merlot")
    assert result.exit_code == 1
    assert result.stderr.startswith("error: there is no run 'merlot' in ")


def test_following_ends_with_the_run_and_tells_its_state(project: Project, command: Command) -> None:
    run = RunWriter.begin(project, app_id="a", kind="launcher", name="n", nodes=1, backend="spark")
    node = NodeWriter(project, run.id, 0)
    node.log("first")
    node.flush()

    def end() -> None:
        node.log("second")
        node.close()
        run.finish(RunState.FINISHED)

    with soon(end):
        result = command("logs", "last", "-f")
    assert result.stdout == "first\nsecond\n"
    assert "is FINISHED" in result.stderr


def test_following_all_nodes_shows_their_lines_as_they_come(project: Project, command: Command) -> None:
    run = begin(project)
    nodes = [NodeWriter(project, run.id, rank) for rank in range(3)]
    for node in nodes:
        node.log("first")
        node.flush()

    def end() -> None:
        for node in nodes:
            node.log("second")
            node.close()
        run.finish(RunState.FAILED)

    with soon(end):
        result = command("logs", "--all", "--follow")
    labels = ["[chief 0]", "[worker 1]", "[ps 2]"]
    assert result.stdout.splitlines() == [
        f"{label} {text}" for text in ("first", "second") for label in labels
    ]
    assert "is FAILED" in result.stderr


def test_following_an_attempt_ends_with_the_reason_of_its_end(project: Project, command: Command) -> None:
    run = begin(project)
    write(project, run, 0, "first try")
    run.restarted(1, "node 2 failed: the grapes are sour\nand green")
    result = command("logs", "--attempt", "0", "-f")
    assert result.stdout == "first try\n"
    assert "ended: node 2 failed: the grapes are sour\n" in result.stderr
