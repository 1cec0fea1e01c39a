from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import hopyard
from hopyard.cli.main import build_app, globals_first, program_name
from hopyard.errors import RunNotFound
from hopyard.store import Project
from hopyard.tracking import NodeWriter, RunState, RunWriter

pytestmark = pytest.mark.unit
Command = Callable[..., Result]
HEAVY = ("pyspark", "pyarrow", "tensorflow", "keras", "torch", "jax", "tensorboard", "numpy", "fsspec")


def chatter(project: Project) -> None:
    """Leaves a run with more output than a pipe holds."""
    run = RunWriter.begin(project, app_id="a", kind="launcher", name="chatter", nodes=1, backend="inline")
    node = NodeWriter(project, run.id, 0)
    for number in range(2000):
        node.log(f"line {number} {'.' * 100}")
    node.close()
    run.finish(RunState.FINISHED)


def hopyard_process(project: Project, *arguments: str, **options: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "hopyard", "--root", project.root, "--project", project.name, *arguments]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, **options)  # type: ignore[call-overload, no-any-return]


def test_help_is_quick_and_loads_nothing_heavy() -> None:
    code = (
        "import sys, time, contextlib\n"
        "began = time.process_time()\n"
        "from hopyard.cli.main import build_app\n"
        "with contextlib.suppress(SystemExit): build_app()(['--help'])\n"
        "print(time.process_time() - began)\n"
        f"print([name for name in {HEAVY} if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    *_, seconds, loaded = done.stdout.splitlines()
    assert loaded == "[]"
    assert float(seconds) < 0.5


def test_the_version_is_that_of_the_package(command: Command) -> None:
    assert command("--version").stdout == f"hopyard {hopyard.__version__}\n"


def test_nothing_at_all_shows_the_help() -> None:
    result = CliRunner().invoke(build_app(), [])
    assert "Commands:" in result.output


@pytest.mark.parametrize("name", ["demo", "doctor", "runs", "logs", "tensorboard"])
def test_every_subcommand_has_help(command: Command, name: str) -> None:
    result = command(name, "-h")
    assert result.exit_code == 0
    assert result.stdout.startswith(f"Usage: hopyard {name} ")


def test_an_error_of_hopyard_is_one_message_without_traceback(command: Command) -> None:
    result = command("logs", "nope")
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.stderr


def test_a_folder_that_may_not_be_entered_is_one_message() -> None:
    app = build_app()

    @app.command()
    def enter() -> None:
        raise PermissionError(errno.EACCES, "Permission denied", "/vault")

    result = CliRunner().invoke(app, ["enter"])
    assert (result.exit_code, result.stderr) == (1, "error: [Errno 13] Permission denied: '/vault'\n")


def test_debug_shows_where_an_error_came_from(command: Command) -> None:
    result = command("--debug", "logs", "nope")
    assert isinstance(result.exception, RunNotFound)


def test_what_the_system_refuses_is_told_in_one_line(project: Project) -> None:
    chatter(project)
    with open("/dev/full", "w") as full, hopyard_process(project, "logs", stdout=full) as process:
        _, error = process.communicate(timeout=60)
    assert process.returncode == 1
    assert error == "error: [Errno 28] No space left on device\n"


def test_a_reader_that_leaves_early_is_no_error(project: Project) -> None:
    chatter(project)
    with hopyard_process(project, "logs", stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("line 0 ")
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == ""


def test_a_reader_that_never_came_is_no_error(project: Project) -> None:
    read, write = os.pipe()
    os.close(read)
    chatter(project)
    with hopyard_process(project, "runs", stdout=write) as process:
        os.close(write)
        _, error = process.communicate(timeout=60)
    assert error == ""


def test_ctrl_c_ends_with_130_and_no_traceback(project: Project) -> None:
    run = RunWriter.begin(
        project,
        app_id="a",
        kind="launcher",
        name="n",
        nodes=1,
        backend="spark",
        clock=lambda: time.time() + 600,
    )
    node = NodeWriter(project, run.id, 0)
    node.log("ready")
    node.flush()
    with hopyard_process(project, "logs", "-f", stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)
    assert process.returncode == 130
    assert error == ""


def test_the_program_is_called_as_the_user_can_call_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "hopyard"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    monkeypatch.setenv("PATH", "")
    assert program_name(str(program)) == str(program)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert program_name(str(program)) == "hopyard"
    assert program_name("/site-packages/hopyard/__main__.py") == "python -m hopyard"


@pytest.mark.parametrize(
    ("given", "sorted_out"),
    [
        ("runs --project p -n 3", "--project p runs -n 3"),
        ("runs --root=/r --debug", "--root=/r --debug runs"),
        ("--root /r logs x --project p", "--root /r --project p logs x"),
        ("logs -- --root", "logs -- --root"),
        ("logs --root", "--root logs"),
    ],
)
def test_global_options_may_stand_anywhere(given: str, sorted_out: str) -> None:
    assert globals_first(given.split()) == sorted_out.split()


def test_a_global_option_after_the_subcommand_is_heeded(tmp_path: Path) -> None:
    result = CliRunner().invoke(build_app(), ["runs", "--root", str(tmp_path), "--project", "late"])
    assert f"{tmp_path}/Projects/late/" in result.stderr


def test_a_log_that_the_encoding_cannot_hold_is_shown_escaped(project: Project) -> None:
    run = RunWriter.begin(project, app_id="a", kind="launcher", name="n", nodes=1, backend="inline")
    node = NodeWriter(project, run.id, 0)
    node.log("Grüße")
    node.close()
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    with hopyard_process(project, "logs", stdout=subprocess.PIPE, env=environment) as process:
        output, _ = process.communicate(timeout=60)
    assert output == "Gr\\xfc\\xdfe\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("trials", "--sort", "valeu"),
            "Invalid value for '--sort': 'valeu' is not one of 'number', 'value'.",
        ),
        (("logs", "--tail", "-1"), "Invalid value for '--tail': it is below 0; give at least 0."),
        (("runs", "--limit", "0"), "Invalid value for '--limit' / '-n': it is below 1; give at least 1."),
        (("runs", "-n", "x"), "Invalid value for '--limit' / '-n': it is no whole number."),
    ],
)
def test_an_option_with_a_wrong_value_is_answered_in_plain_words(
    arguments: Sequence[str], words: str, command: Callable[..., Result]
) -> None:
    result = command(*arguments)
    assert (result.exit_code, result.stderr.splitlines()[-1]) == (2, f"Error: {words}")
