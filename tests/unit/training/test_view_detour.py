from __future__ import annotations

import contextlib
import io
import logging
import sys
import threading
from collections.abc import Iterator

import pytest

from hopyard.training.view_console import SharedConsole
from hopyard.training.view_detour import Detour

from .terminal import Terminal, be_a_common_terminal

pytestmark = pytest.mark.unit


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    be_a_common_terminal(monkeypatch)
    with Terminal() as terminal:
        yield terminal


def test_streams_and_log_handlers_are_put_back(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", terminal.stream)
    monkeypatch.setattr(sys, "stderr", terminal.stream)
    handler = logging.StreamHandler(sys.stderr)
    monkeypatch.setattr(logging.getLogger(), "handlers", [handler])
    detour = Detour(SharedConsole(terminal.stream, threading.RLock()))
    assert terminal.stream not in (sys.stdout, sys.stderr, handler.stream)
    detour.end()
    assert sys.stdout is sys.stderr is handler.stream is terminal.stream


def test_what_is_no_whole_line_yet_is_not_lost(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", terminal.stream)
    detour = Detour(SharedConsole(terminal.stream, threading.RLock()))
    sys.stdout.write("half a line")
    detour.end()
    terminal.wait_until(lambda lines: lines[0] == "half a line")


def test_a_stream_that_the_program_puts_in_place_meanwhile_stays(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", terminal.stream)
    detour = Detour(SharedConsole(terminal.stream, threading.RLock()))
    with contextlib.redirect_stdout(io.StringIO()) as caught:
        sys.stdout.write("one ")
        detour.end()
        sys.stdout.write("two")
    assert caught.getvalue() == "one two"
    sys.stdout.write("on the terminal\n")
    terminal.wait_until(lambda lines: lines[0] == "on the terminal")


def test_a_stream_that_is_no_terminal_is_left_alone(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = io.StringIO()
    monkeypatch.setattr(sys, "stdout", file)
    detour = Detour(SharedConsole(terminal.stream, threading.RLock()))
    assert sys.stdout is file
    detour.end()
