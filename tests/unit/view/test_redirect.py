from __future__ import annotations

import contextlib
import io
import logging
import sys
import threading
from collections.abc import Iterator

import pytest
from rich.console import Console

from hopyard.view.console import SharedConsole
from hopyard.view.redirect import StdoutRedirect

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
    detour = StdoutRedirect(SharedConsole(terminal.stream, threading.RLock()))
    assert terminal.stream not in (sys.stdout, sys.stderr, handler.stream)
    detour.end()
    assert sys.stdout is sys.stderr is handler.stream is terminal.stream


def test_what_is_no_whole_line_yet_is_not_lost(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", terminal.stream)
    detour = StdoutRedirect(SharedConsole(terminal.stream, threading.RLock()))
    sys.stdout.write("half a line")
    detour.end()
    terminal.wait_until(lambda lines: lines[0] == "half a line")


def test_a_stream_that_the_program_puts_in_place_meanwhile_stays(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", terminal.stream)
    detour = StdoutRedirect(SharedConsole(terminal.stream, threading.RLock()))
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
    detour = StdoutRedirect(SharedConsole(terminal.stream, threading.RLock()))
    assert sys.stdout is file
    detour.end()


def test_of_a_line_that_is_written_over_only_the_last_state_is_printed(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", terminal.stream)
    detour = StdoutRedirect(SharedConsole(terminal.stream, threading.RLock()))
    for done in range(100):
        sys.stderr.write(f"\r{done} of 100")
        sys.stderr.flush()
    sys.stderr.write("\nend\n")
    detour.end()
    terminal.check(["99 of 100", "end"])


def test_what_rich_prints_elsewhere_comes_by_the_same_way(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", terminal.stream)
    detour = StdoutRedirect(SharedConsole(terminal.stream, threading.RLock()))
    assert Console().file is sys.stdout
    assert Console().is_terminal
    detour.end()


def test_a_stream_that_somebody_keeps_writes_to_the_terminal_afterwards(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", terminal.stream)
    detour = StdoutRedirect(SharedConsole(terminal.stream, threading.RLock()))
    kept = sys.stdout
    detour.end()
    kept.write("\x1b[2Kas it is")
    kept.flush()
    terminal.wait_until(lambda lines: lines == ["as it is"])
    assert "\x1b[2K" in terminal.received


def test_a_long_line_is_left_whole(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", terminal.stream)
    detour = StdoutRedirect(SharedConsole(terminal.stream, threading.RLock()))
    sys.stdout.writelines(["word " * 100, "\n"])
    detour.end()
    terminal.check([("word " * 100).rstrip()])
