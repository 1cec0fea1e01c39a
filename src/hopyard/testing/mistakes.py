"""What a user's mistake has to be answered with: one short text, soon, and nothing left behind."""

from __future__ import annotations

import os
import re
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from hopyard.testing.processes import command_line, descendants
from hopyard.testing.watching import wait_until

LONGEST_TEXT = 420
MOST_SENTENCES = 3
TRIES = 3
LEAVE_SECONDS = 10.0
# Those of fsspec and Py4J stay for good. A call of a store's client that hangs cannot be broken off; nobody waits for
# its thread, and it ends when the client gives up.
KEPT_THREADS = ("fsspecIO", "asyncio_", "Thread-", "hopyard-contact")
NOISE = re.compile(r"<class|<function| at 0x|\w\.\.(\s|$)|\bMend\b|Traceback|  ")
BEGINNING = re.compile(r"[\w'\"(\[/~-]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """Something that a user does wrong.

    Attributes:
        name: What is wrong, in words.
        do: Does it.
        error: What it raises.
        says: What the text must hold: the value that was given, and the remedy.
    """

    name: str
    do: Callable[..., Any]
    error: type[BaseException]
    says: tuple[str, ...]

    def __str__(self) -> str:
        return self.name


def check_text(text: str, says: tuple[str, ...]) -> None:
    """Checks that a text is short and plain, and holds what it must; what follows an empty line is not looked at."""
    first = text.partition("\n\n")[0]
    missing = [fragment for fragment in says if fragment not in first]
    assert not missing, f"{missing} not in {first!r}"
    assert BEGINNING.match(first), f"begins badly: {first!r}"
    assert first.endswith((".", "?")), f"ends without a full stop: {first!r}"
    assert not first.endswith(("..", ".?", "?.")), f"ends twice: {first!r}"
    assert not (noise := NOISE.search(first)), f"{noise.group()!r} in {first!r}"
    assert len(first) <= LONGEST_TEXT, f"{len(first)} characters: {first!r}"
    sentences = re.findall(r"[.?](?=\s+[A-Z]|$)", first)
    assert len(sentences) <= MOST_SENTENCES, f"{len(sentences)} sentences: {first!r}"


def check_mistake(mistake: Mistake, *arguments: Any, seconds: float) -> None:
    """Checks what a mistake is answered with.

    Args:
        mistake: The mistake.
        arguments: What to do it with.
        seconds: Within which the answer has to come, on a machine that may be busy: the best of some tries counts.
    """
    took: list[float] = []
    while not took or (min(took) > seconds and len(took) < TRIES):
        with nothing_left():
            began = time.monotonic()
            try:
                mistake.do(*arguments)
            except mistake.error as error:
                text = str(error)
            else:
                raise AssertionError(f"{mistake.name}: nothing was raised")
            took.append(time.monotonic() - began)
        check_text(text, mistake.says)
    assert min(took) <= seconds, f"{mistake.name}: {took} s"


@contextmanager
def nothing_left() -> Iterator[None]:
    """Checks that no thread, process or scratch folder is left of what is done in the context."""
    threads, processes = set(threading.enumerate()), _processes()
    with own_temporary_folder() as folder:
        yield
        try:
            wait_until(lambda: not _left(threads, processes, folder), "nothing is left behind", LEAVE_SECONDS)
        except TimeoutError as error:
            raise AssertionError(f"left behind: {_left(threads, processes, folder)}") from error


@contextmanager
def own_temporary_folder() -> Iterator[Path]:
    """Lets this process put temporary files into a folder of their own, apart from those of other programs."""
    usual = tempfile.tempdir
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        tempfile.tempdir = folder
        try:
            yield Path(folder)
        finally:
            tempfile.tempdir = usual


def _left(threads: set[threading.Thread], processes: set[str], folder: Path) -> list[str]:
    scratch = map(str, folder.glob(f"hopyard-{os.getuid()}/*-*"))
    return [*_threads(threads), *(_processes() - processes), *scratch]


def _threads(before: set[threading.Thread]) -> list[str]:
    now = [thread.name for thread in threading.enumerate() if thread not in before]
    return [name for name in now if not name.startswith(KEPT_THREADS)]


def _processes() -> set[str]:
    """Returns the running children; Spark's own workers come and go as they like."""
    found: list[psutil.Process] = descendants(os.getpid())
    commands = {process.pid: command_line(process) for process in found}
    return {f"{pid} {command}" for pid, command in commands.items() if command and "pyspark" not in command}
