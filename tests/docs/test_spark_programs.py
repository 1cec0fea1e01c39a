"""The programs of docs that use Spark run as pasted, all of them on the Spark of the other tests."""

from __future__ import annotations

import io
import traceback
from contextlib import redirect_stderr, redirect_stdout

import pytest

from .pages import README, Block, Program, missing, pages, programs

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]


def with_marks(program: Program):
    """Returns a parameter of the test, in the lanes of the frameworks that the program needs."""
    return pytest.param(program, marks=[getattr(pytest.mark, lane) for lane in program.lanes], id=program.at)


@pytest.fixture
def shared_spark(spark, empty_folder, monkeypatch):
    """Makes `local_spark` return the session of all tests, which does not stop at the end of a `with`.

    Spark's JVM has a working directory of its own, to which relative paths of DataFrames belong.
    """
    # the public one first: it is made of the other one when it is imported
    monkeypatch.setattr("hopyard.run.local_spark.local_spark", lambda **_: spark)
    monkeypatch.setattr("hopyard.spark.session.local_spark", lambda **_: spark)
    monkeypatch.setattr(type(spark), "__exit__", lambda *_: None)
    monkeypatch.setattr(type(spark), "stop", lambda _: None)
    hadoop = spark.sparkContext._jvm.org.apache.hadoop.fs
    files = hadoop.FileSystem.get(spark.sparkContext._jsc.hadoopConfiguration())
    before = files.getWorkingDirectory()
    files.setWorkingDirectory(hadoop.Path(str(empty_folder)))
    yield
    files.setWorkingDirectory(before)


def run(block: Block, names: dict[str, object], output: io.StringIO) -> None:
    """Runs a block where the ones before it ended."""
    with redirect_stdout(output), redirect_stderr(output):
        try:
            exec(compile(block.padded, block.page, "exec", dont_inherit=True), names)
        except BaseException as error:  # a page may show any error
            traceback.print_exc(file=output)
            if block.error != type(error).__name__:
                error.add_note(f"in the block at {block.at}")
                raise
            return
    assert not block.error, f"{block.at} does not raise {block.error}:\n{output.getvalue()}"


@pytest.mark.usefixtures("shared_spark")
@pytest.mark.parametrize(
    "program",
    [
        with_marks(program)
        for page in pages()
        for program in programs(page)
        if page != README and program.uses_spark
    ],
)
def test_program_of_a_page_runs_on_spark(program):
    names: dict[str, object] = {"__name__": "__main__"}
    output = io.StringIO()
    for block in program.blocks:
        run(block, names, output)
    for shown in program.printed:
        line = missing(output.getvalue(), shown.text)
        assert not line, f"{shown.at} shows {line!r}, which was not printed:\n{output.getvalue()}"
