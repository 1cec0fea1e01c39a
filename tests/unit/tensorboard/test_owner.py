from __future__ import annotations

import subprocess
import sys
import threading
from contextlib import ExitStack

import pytest

from hopyard.tensorboard.owner import OwnerThread

pytestmark = pytest.mark.unit


def test_resources_are_closed_when_they_are_released() -> None:
    resources, closed = ExitStack(), threading.Event()
    resources.callback(closed.set)
    owner = OwnerThread(resources, lambda: True, "owner")
    assert not closed.is_set()
    owner.release()
    assert closed.is_set()


def test_resources_are_closed_when_they_are_of_no_use_any_more() -> None:
    resources, closed = ExitStack(), threading.Event()
    resources.callback(closed.set)
    OwnerThread(resources, lambda: False, "owner")
    assert closed.wait(10)


def test_resources_last_until_the_program_ends_and_are_closed_then() -> None:
    program = """
from contextlib import ExitStack
from hopyard.tensorboard.owner import OwnerThread
resources = ExitStack()
resources.callback(print, "closed")
OwnerThread(resources, lambda: True, "owner")
del resources
print("last line")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout.split("\n") == ["last line", "closed", ""]
