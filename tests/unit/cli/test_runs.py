from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest
from typer.testing import Result

from hopyard import launch
from hopyard.cli.runs import last_metrics
from hopyard.errors import NodeFailed
from hopyard.store import Project
from hopyard.tracking import MetricPoint, NodeWriter, RunState, RunWriter

pytestmark = pytest.mark.unit
Command = Callable[..., Result]


def begin(project: Project, name: str, *, at: float) -> RunWriter:
    return RunWriter.begin(
        project, app_id="app-1", kind="launcher", name=name, nodes=2, backend="spark", clock=lambda: at
    )


def report_twice(ctx: object) -> None:
    ctx.report(1, loss=0.5)  # type: ignore[attr-defined]
    ctx.report(2, loss=0.25)  # type: ignore[attr-defined]


def fail() -> None:
    raise ValueError("the grapes are sour\nand green")


def test_a_launched_run_is_listed_with_its_last_metric(project: Project, command: Command) -> None:
    result = launch(report_twice, name="pinot", backend="inline", project=project)
    _, row = command("runs").stdout.splitlines()
    assert row.startswith(f"{result.run_id}  pinot  FINISHED  1 ")
    assert row.endswith("loss=0.25")


def test_a_failed_run_shows_the_first_line_of_its_error(project: Project, command: Command) -> None:
    with pytest.raises(NodeFailed):
        launch(fail, backend="inline", project=project)
    _, row = command("runs").stdout.splitlines()
    assert "FAILED" in row
    assert row.endswith("the grapes are sour")


def test_the_newest_run_comes_first(project: Project, command: Command) -> None:
    for age, name in ((300, "old"), (100, "new"), (200, "middle")):
        begin(project, name, at=time.time() - age)
    names = [line.split()[1] for line in command("runs").stdout.splitlines()]
    assert names == ["NAME", "new", "middle", "old"]


def test_a_run_whose_driver_fell_silent_is_lost(project: Project, command: Command) -> None:
    begin(project, "silent", at=time.time() - 3600)
    begin(project, "alive", at=time.time())
    _, alive, silent = command("runs").stdout.splitlines()
    assert "RUNNING" in alive
    assert "LOST" in silent
    assert "  0.0s" in silent  # nothing is known of the time since its last sign of life


def test_a_limit_cuts_the_list_and_says_so(project: Project, command: Command) -> None:
    for number in range(3):
        begin(project, f"run{number}", at=time.time() + number)
    result = command("runs", "--limit", "2")
    assert len(result.stdout.splitlines()) == 3
    assert "older runs" in result.stderr


def test_corrupt_records_are_told_on_standard_error_and_hide_nothing(
    project: Project, command: Command
) -> None:
    project.put(project.layout.run("app-0", "launcher", 1).record, b"{")
    begin(project, "good", at=time.time())
    result = command("runs")
    assert result.exit_code == 0
    assert "good" in result.stdout
    assert "app-0/launcher/run.1" in result.stderr
    assert "app-0" not in result.stdout


def test_corrupt_metrics_are_told_on_standard_error(project: Project, command: Command) -> None:
    run = begin(project, "good", at=time.time())
    metrics = project.layout.run(run.id.app_id, run.id.kind, run.id.number).node_metrics(0)
    project.put(f"{metrics}/00001.jsonl", b"no json\n")
    assert f"{metrics}, segment 1" in command("runs").stderr


def test_an_empty_project_says_how_to_make_a_run(project: Project, command: Command) -> None:
    result = command("runs")
    assert result.exit_code == 0
    assert result.stdout == ""
    assert f"hopyard --root {project.root} --project vineyard demo" in result.stderr


def test_an_ended_run_shows_how_long_it_took(project: Project, command: Command) -> None:
    times = iter((1000.0, 1185.0))
    run = RunWriter.begin(
        project, app_id="a", kind="k", name="n", nodes=1, backend="inline", clock=lambda: next(times)
    )
    run.finish(RunState.FINISHED)
    assert "3m05s" in command("runs").stdout


def test_a_run_that_was_started_again_tells_how_often(project: Project, command: Command) -> None:
    run = begin(project, "again", at=time.time())
    with NodeWriter(project, run.id, 0) as node:
        node.metric(MetricPoint(name="loss", step=9, value=0.25, time=0.0))
    assert command("runs").stdout.splitlines()[1].endswith("  loss=0.25")
    run.restarted(1, "node 1 failed")
    assert command("runs").stdout.splitlines()[1].endswith("  2 attempts: loss=0.25")
    with NodeWriter(project, run.id, 0, attempt=1) as node:
        node.metric(MetricPoint(name="loss", step=1, value=0.5, time=0.0))
    run.restarted(2, "node 1 failed")
    assert command("runs").stdout.splitlines()[1].endswith("  3 attempts: loss=0.5")
    run.finish(RunState.FAILED, error="node 1 failed\nagain")
    assert command("runs").stdout.splitlines()[1].endswith("  3 attempts: node 1 failed")


def test_attempts_are_told_though_nothing_was_reported(project: Project, command: Command) -> None:
    begin(project, "again", at=time.time()).restarted(1, "node 1 failed")
    assert command("runs").stdout.splitlines()[1].endswith("  2 attempts")


def test_a_point_of_a_later_attempt_is_newer_than_those_of_higher_steps_before() -> None:
    points = [
        MetricPoint(name="loss", step=1, value=0.5, time=0.0, attempt=1),
        MetricPoint(name="loss", step=9, value=0.25, time=0.0),
    ]
    assert last_metrics(points) == "loss=0.5"


def test_the_last_metric_is_that_of_the_highest_step_of_the_chief() -> None:
    points = [
        MetricPoint(name="loss", step=2, value=0.25, time=0.0),
        MetricPoint(name="loss", step=1, value=0.5, time=0.0),
        MetricPoint(name="accuracy", step=1, value=0.75, time=0.0),
        MetricPoint(name="loss", step=9, value=9.0, time=0.0, rank=1),
    ]
    assert last_metrics(points) == "accuracy=0.75 loss=0.25"


def test_one_run_is_shown_in_full(project: Project, command: Command) -> None:
    with pytest.raises(NodeFailed):
        launch(fail, name="sour", backend="inline", project=project)
    lines = command("runs", "sour").stdout.splitlines()
    known = dict(line.split(maxsplit=1) for line in lines[: lines.index("")])
    assert (known["Name"], known["State"], known["Nodes"]) == ("sour", "FAILED", "1 on inline")
    assert known["Folder"].endswith("/launcher/run.1")
    error = lines[lines.index("") + 1 :]
    assert error[0].endswith("the grapes are sour")
    assert error[1] == "and green"


@pytest.mark.parametrize("columns", [80, 200])
def test_one_long_error_leaves_the_list_a_table(
    project: Project, command: Command, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    long = begin(project, "long", at=time.time() - 1)
    long.finish(RunState.FAILED, error="the grapes are sour " * 50)
    begin(project, "short", at=time.time()).finish(RunState.FINISHED)
    for name, value in (("FORCE_COLOR", "1"), ("NO_COLOR", "1"), ("COLUMNS", str(columns))):
        monkeypatch.setenv(name, value)
    lines = re.sub(r"\x1b\[\d*m", "", command("runs").stdout).splitlines()
    heading, short, long_row = (line.rstrip() for line in lines)
    assert heading.index("STATE") == short.index("FINISHED") == long_row.index("FAILED")
    assert long_row.endswith("…")
    assert len(long_row) <= columns
    assert ("STARTED" in heading) == (columns == 200)


def test_without_a_metric_the_value_is_told_before_the_number_of_attempts(
    project: Project, command: Command
) -> None:
    writer = begin(project, "search", at=time.time())
    writer.restarted(1, "the study was resumed")
    writer.finish(RunState.FINISHED, value="0.9731")
    assert command("runs").stdout.splitlines()[1].endswith("  value=0.9731 (2 attempts)")


def test_all_about_a_run_has_its_whole_value(project: Project, command: Command) -> None:
    value = repr({"history": {"accuracy": [number / 7 for number in range(30)]}})
    begin(project, "long", at=time.time()).finish(RunState.FINISHED, value=value)
    assert f"Value     {value}" in command("runs", "long").stdout


def test_a_name_that_an_older_release_took_moves_no_cursor(project: Project, command: Command) -> None:
    begin(project, "\x1b[31mred\x1b[0m\tTab", at=time.time())
    for call in (("runs",), ("runs", "last"), ("compare", "last", "last")):
        shown = command(*call).stdout
        assert "\x1b" not in shown
        assert r"\x1b[31mred\x1b[0m Tab" in shown


@pytest.mark.parametrize("applications", [1, 3])
def test_a_narrow_terminal_shows_names_and_ids_that_can_be_told_apart(
    applications: int, project: Project, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    for number in range(applications):
        app_id = f"app-2026111922{number}900-0000"
        RunWriter.begin(
            project, app_id=app_id, kind="launcher", name="prices of houses", nodes=2, backend="spark"
        ).finish(RunState.FINISHED, value="0.5")
    lines = command("runs").stdout.splitlines()[-applications:]
    assert all("prices of hou" in line for line in lines)
    ids = {line.split()[0].replace("\x1b[0m", "") for line in lines}
    assert len(ids) == applications
    for each in ids:
        assert "prices of houses" in command("runs", each).stdout
