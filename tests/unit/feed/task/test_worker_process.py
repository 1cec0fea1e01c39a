"""How the Python of Spark is set up that feeds: in a process of its own, since it is set up as a whole."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

pytestmark = pytest.mark.unit

PAGES = 20 * 3 * (2 << 20) // 4096
PROGRAM = """
import gc, resource, sys
from hopyard.feed.task.worker_process import prepare_process

if sys.argv[1] == "prepared":
    prepare_process()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    some = [bytearray(b"x") * (2 << 20) for _ in range(3)]
    del some
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before, gc.get_freeze_count())
"""


def run(how: str) -> tuple[int, int]:
    """Returns how many pages a process has asked for, and how many objects it exempted from collection."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, how], check=True, capture_output=True, text=True, timeout=60
    )
    pages, frozen = map(int, done.stdout.split())
    return pages, frozen


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have no such setting")
def test_the_memory_of_a_piece_is_used_again() -> None:
    fresh = PAGES / 20  # what the first pieces take
    assert run("prepared")[0] < 1.5 * fresh
    assert run("as it is")[0] > 2 * fresh  # how often it asks again, depends on the heap of the process


def test_what_was_imported_is_not_searched_for_garbage() -> None:
    assert run("as it is")[1] == 0
    assert run("prepared")[1] > 1000
