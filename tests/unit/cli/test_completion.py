from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hopyard import launch
from hopyard.cli.completion import offered, quick_offer
from hopyard.search.api import grid_search
from hopyard.store import Project

pytestmark = pytest.mark.unit


def nothing(x: float = 0.0) -> float:
    return x


@pytest.fixture
def ids(project: Project) -> list[str]:
    """The ids of a run and of a study, newest first."""
    run = launch(nothing, name="pinot", backend="inline", project=project)
    study = grid_search(nothing, {"x": [1]}, name="study", backend="processes", parallel=1, project=project)
    launch(nothing, name="two words", backend="inline", project=project)
    return [study.run_id, run.run_id]


def asked(*words: str) -> dict[str, str]:
    """What bash tells the program if the last word is to be completed."""
    return {
        "_HOPYARD_COMPLETE": "complete_bash",
        "COMP_WORDS": "\n".join(words),
        "COMP_CWORD": str(len(words) - 1),
    }


@pytest.mark.parametrize("command", ["runs", "logs", "compare", "tensorboard", "rm"])
def test_runs_are_offered_by_name_and_id(project: Project, ids: list[str], command: str) -> None:
    root, name = project.root, project.name
    words = quick_offer(asked("hopyard", "--root", root, command, "--project", name, ""))
    assert words is not None
    assert words[:3] == ["last", "study", "pinot"]
    assert set(ids) < set(words)
    assert "two words" not in words  # it would have to be quoted


def test_studies_are_offered_to_trials(project: Project, ids: list[str]) -> None:
    assert offered(project.root, project.name, "studies", "") == ["last", "study", ids[0]]


def test_what_does_not_begin_as_typed_is_left_out(project: Project, ids: list[str]) -> None:
    assert offered(project.root, project.name, "runs", "pi") == ["pinot"]
    assert offered(project.root, project.name, "runs", ids[0][:-1]) == [ids[0]]


@pytest.mark.parametrize(
    "words",
    [("hopyard", ""), ("hopyard", "lo"), ("hopyard", "logs", "--ta"), ("hopyard", "logs", "--tail", "")],
)
def test_what_is_no_run_is_left_to_typer(words: tuple[str, ...]) -> None:
    assert quick_offer(asked(*words)) is None


def test_nothing_is_offered_where_there_is_nothing(tmp_path: Path) -> None:
    for root in (tmp_path / "nowhere", "s3://bucket", "gopher://x"):
        assert offered(str(root), "project", "runs", "") == []


@pytest.fixture
def bash(tmp_path: Path, project: Project) -> Callable[[str], list[str]]:
    """A bash with the installed completion; returns the lines that a script prints."""
    program = tmp_path / "bin" / "hopyard"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\nfrom hopyard.cli.entry import main\nmain()\n")
    program.chmod(0o755)
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "SHELL": "/bin/bash",
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "HOPYARD_ROOT": project.root,
        "HOPYARD_PROJECT": project.name,
    }

    def run(script: str) -> list[str]:
        done = subprocess.run(
            ["bash", "--norc", "-c", script], env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return run


def test_bash_completes_commands_and_runs_once_it_is_installed(
    bash: Callable[[str], list[str]], ids: list[str]
) -> None:
    lines = bash(
        "hopyard --install-completion bash > /dev/null\n"
        "source ~/.bash_completions/hopyard.sh\n"
        "complete -p hopyard | grep -o _hopyard_completion\n"
        'complete_last() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _hopyard_completion hopyard; '
        'echo "${COMPREPLY[@]}"; }\n'
        "complete_last hopyard re\n"
        "complete_last hopyard logs pi\n"
        "complete_last hopyard trials ''\n"
    )
    assert lines == ["_hopyard_completion", "restore", "pinot", f"last study {ids[0]}"]


def test_a_run_is_completed_without_loading_typer(project: Project) -> None:
    code = (
        "import sys\n"
        "from hopyard.cli.entry import main\n"
        "main()\n"
        "assert not {'typer', 'rich', 'pydantic'} & set(sys.modules)\n"
    )
    environment = {**os.environ, **asked("hopyard", "--root", project.root, "logs", "")}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
