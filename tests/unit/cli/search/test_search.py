from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from hopyard.store import Project
from hopyard.testing.watching import wait_until

pytestmark = pytest.mark.unit
Command = Callable[..., Result]

PROGRAM = """\
def train(x, y, ctx):
    print(f"x is {x}")
    ctx.report(1, score=x)
    return {"score": x + y, "error": -x}

def fail(x, y):
    raise ValueError("the grapes are sour")

def silent(x, y):
    pass
"""

# The first trial ends; the second one waits for a word.
SLOW_PROGRAM = """\
import pathlib, time

def train(x):
    pathlib.Path(f"started-{x}").touch()
    while x == 2 and not pathlib.Path("word").exists():
        time.sleep(0.02)
    return float(x)
"""


@pytest.fixture
def search(tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Calls ``hopyard search`` for a function of a small program, without Spark."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    for module in ("vintage", "vintage_of_search"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    (tmp_path / "vintage.py").write_text(PROGRAM)
    (tmp_path / "space.yaml").write_text("x: [1, 3, 2]\ny: 10\n")

    def call(function: str, *arguments: str) -> Result:
        space = ("--space", str(tmp_path / "space.yaml"))
        where = ("--backend", "processes", "--parallel", "1")
        return command("search", f"{tmp_path / 'vintage.py'}:{function}", *space, *where, *arguments)

    return call


def test_a_grid_ends_with_the_best_trial_and_the_commands_that_lead_on(
    search: Command, project: Project
) -> None:
    result = search("train", "--sampler", "grid", "--metric", "score", "--name", "pinot")
    assert result.exit_code == 0, result.output
    counts, best, _, *rows = result.stdout.splitlines()
    assert counts == "3 trials: 3 finished"
    assert best == "Best: trial 1, score=13  (x=3 y=10)"
    further = dict(row.split("  ", 1) for row in rows)
    study = further["Study folder"].strip()
    assert further["Best folder"].strip() == f"{study}/x=3.y=10"
    run_id = study.removeprefix(f"{project.path}Logs/TensorFlow/")
    options = f"--root {project.root} --project vineyard"
    assert further["Its log"].strip() == f"hopyard {options} logs {run_id} --trial 1"
    assert further["All trials"].strip() == f"hopyard {options} trials {run_id}"
    assert further["TensorBoard"].strip() == f"hopyard {options} tensorboard {run_id}"


def test_several_metrics_have_several_best_trials(search: Command) -> None:
    result = search(
        "train", "--sampler", "grid", "--metric", "score", "--metric", "error", "--direction", "max"
    )
    best = [line for line in result.stdout.splitlines() if line.startswith("Best: ")]
    assert best == [
        "Best: trial 0, score=11 error=-1  (x=1 y=10)",
        "Best: trial 1, score=13 error=-3  (x=3 y=10)",
        "Best: trial 2, score=12 error=-2  (x=2 y=10)",
    ]


def test_trials_without_a_value_have_no_best(search: Command) -> None:
    result = search("silent", "--sampler", "grid")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("3 trials: 3 finished\n\nStudy folder")


def test_a_search_whose_trials_all_fail_is_an_error(search: Command) -> None:
    result = search("fail", "--sampler", "random", "--trials", "2")
    assert result.exit_code == 1
    assert result.stdout == "2 trials: 2 failed\n"
    assert result.stderr.startswith("error: no trial ended well; why: hopyard ")
    assert result.stderr.endswith(" --failed\n")


def test_a_search_that_is_given_up_is_one_error_with_the_traceback(search: Command) -> None:
    result = search("fail", "--sampler", "grid")
    assert result.exit_code == 1
    assert result.stderr.startswith("error: the study ")
    assert "the grapes are sour" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nobody"], "has no function 'nobody'"),
        (["train"], "this search would never end. Give trials= (how many) or timeout= (seconds)"),
        (["train", "--trials", "1", "--sampler", "tp"], "there is no sampler 'tp'. Did you mean 'tpe'?"),
        (["train", "--trials", "1", "--direction", "up"], "direction='up' is not valid. Give 'max' or 'min'"),
        (
            ["train", "--trials", "1", "--space", "nowhere.yaml"],
            "nowhere.yaml cannot be used: there is no such file",
        ),
    ],
)
def test_a_mistake_is_one_sentence(search: Command, arguments: list[str], message: str) -> None:
    result = search(*arguments)
    assert result.exit_code == 1
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_mistakes_are_told_before_spark_starts(search: Command) -> None:
    result = search("train", "--trials", "1", "--sampler", "tp", "--backend", "spark")
    assert result.exit_code == 1
    assert result.stderr.startswith("error: ")
    assert "Did you mean 'tpe'?" in result.stderr
    assert result.stderr.count("\n") == 1


def test_ctrl_c_leaves_the_command_that_goes_on(tmp_path: Path, project: Project, command: Command) -> None:
    (tmp_path / "slow.py").write_text(SLOW_PROGRAM)
    (tmp_path / "space.yaml").write_text("x: [1, 2]\n")
    options = [
        "--root",
        project.root,
        "--project",
        project.name,
        "--space",
        "space.yaml",
        "--direction",
        "max",
    ]
    words = ["search", "slow.py:train", *options, "--sampler", "grid", "--backend", "processes"]
    program = [sys.executable, "-m", "hopyard", *words, "--parallel", "1"]
    with subprocess.Popen(program, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        wait_until((tmp_path / "started-2").exists, "the second trial runs", 60)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    kept, again = said.strip().splitlines()
    assert kept.startswith("Interrupted: 1 of 2 trials of ")
    assert kept.endswith(" have ended and are kept; 1 under way will run again.")
    assert (
        again == f"Go on with: {shlex.join(program[1:]).replace('-m', 'python -m', 1)} --resume --name train"
    )
    states = [line.split()[1] for line in command("trials").stdout.splitlines()[1:]]
    assert states == ["FINISHED", "WAITING"]  # nothing runs any more
    assert [trial["state"] for trial in json.loads(command("trials", "--json").stdout)] == states
    (tmp_path / "word").touch()
    done = subprocess.run([*program, "--resume"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("2 trials: 2 finished\n")


def test_the_space_is_needed(command: Command) -> None:
    result = command("search", "train.py:train")
    assert result.exit_code == 2
    assert "--space" in result.stderr


def test_the_help_tells_of_samplers_and_pruners(command: Command) -> None:
    text = " ".join(command("search", "-h").stdout.split())
    assert text.startswith("Usage: hopyard search [OPTIONS] {FILE.py:FUNCTION} ")
    assert "tpe, random, grid" in text
    assert "median, asha" in text
