"""The programs of README and docs that need no Spark run as pasted, each in a process of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

from .pages import Program, missing, pages, programs

pytestmark = pytest.mark.cluster
SECONDS = 100


def alone() -> list[Program]:
    """Returns the programs that need no Spark, and the first of README, which stands for those that do."""
    first = programs(pages()[0])[0]
    return [first] + [program for page in pages() for program in programs(page) if not program.uses_spark]


@pytest.mark.parametrize("program", alone(), ids=lambda program: program.at)
def test_program_of_a_page_runs_as_pasted(program, empty_folder):
    file = empty_folder / "program.py"
    text = program.blocks[0].text if program.uses_spark else program.text
    file.write_text(text)
    ended = subprocess.run(
        [sys.executable, file.name], capture_output=True, text=True, timeout=SECONDS, cwd=empty_folder
    )
    assert bool(ended.returncode) == bool(program.error), f"{program.at}\n{ended.stdout}\n{ended.stderr}"
    assert program.error in ended.stderr
    if program.uses_spark:
        return
    for shown in program.printed:
        line = missing(ended.stdout + ended.stderr, shown.text)
        assert not line, f"{shown.at} shows {line!r}, which was not printed:\n{ended.stdout}\n{ended.stderr}"
