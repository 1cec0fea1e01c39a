"""README, and the programs of docs that need no Spark, run as pasted: each in a process of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

from .pages import README, Program, missing, pages, programs

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(400)]
SECONDS = 300


def with_marks(program: Program):
    """Returns a parameter of the test, in the lanes of what the program needs."""
    return pytest.param(program, marks=[getattr(pytest.mark, lane) for lane in program.lanes], id=program.at)


@pytest.mark.parametrize(
    "program",
    [
        with_marks(program)
        for page in pages()
        for program in programs(page)
        if page == README or not program.uses_spark
    ],
)
def test_program_of_a_page_runs_as_pasted(program, empty_folder):
    file = empty_folder / "program.py"
    file.write_text(program.text)
    ended = subprocess.run(
        [sys.executable, file.name],
        input="\n",  # for a program that waits until Enter is pressed
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    output = ended.stdout + ended.stderr
    assert bool(ended.returncode) == bool(program.error), (
        f"{program.at} ended with {ended.returncode}:\n{output}"
    )
    assert program.error in ended.stderr, f"{program.at}:\n{output}"
    for shown in program.printed:
        line = missing(output, shown.text)
        assert not line, f"{shown.at} shows {line!r}, which was not printed:\n{output}"
