from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from rich.text import Text

from hopyard.protocol.node_status import NodeStatus, Phase
from hopyard.view.live_display import LiveDisplay
from hopyard.view.run_snapshot import Snapshot

from .program_screen import SIZES, Seen, watch_program
from .terminal import Terminal, be_a_common_terminal

pytestmark = pytest.mark.unit

RefreshThread: TypeAlias = Callable[[str, tuple[int, int], str], Seen]
PROGRAM = Path(__file__).with_name("shown_program.py")


@pytest.fixture
def watch(tmp_path: Path) -> RefreshThread:
    """Runs a program on a terminal of some size, and returns what was to be seen."""

    def run(name: str, size: tuple[int, int], sight: str) -> Seen:
        command = [sys.executable, str(PROGRAM), name]
        environment = {**os.environ, "HOPYARD_ROOT": str(tmp_path)}
        seen = watch_program(
            command,
            columns=size[0],
            rows=size[1],
            environment=environment,
            on_sight={sight: (tmp_path / "go-on").touch},
        )
        assert seen.code == 0, "\n".join(seen.end)
        return seen

    return run


def snapshot(title: str, phase: Phase = Phase.RUNNING) -> Snapshot:
    nodes = [NodeStatus(rank=0, role="worker", phase=phase, host="a")]
    return Snapshot.of(title, seconds=0, nodes=nodes)


@pytest.mark.parametrize("size", SIZES)
def test_epochs_are_lines_above_a_bar_that_moves_and_goes(
    watch: RefreshThread, size: tuple[int, int]
) -> None:
    seen = watch("epochs", size, "━ 4/5")
    seen.check_no_line_twice()
    assert all(sum("━" in line for line in moment) <= 1 for moment in seen.moments)
    counts = [re.findall(r"(\d)/5", bar)[0] for bar in seen.bars()]
    assert len(set(counts)) > 1
    assert counts == sorted(counts)
    losses = ("1", "0.5", "0.3333", "0.25", "0.2")
    lines = [f"epoch {number}/5 loss {loss}" for number, loss in enumerate(losses, 1)]
    assert seen.end == ["Starting the training process", *lines, "done"]


@pytest.mark.parametrize("size", SIZES)
def test_two_runs_and_a_bar_share_one_display_below_all_other_output(
    watch: RefreshThread, size: tuple[int, int]
) -> None:
    seen = watch("together", size, "    4  loss 0.25")
    for moment in seen.moments:
        assert sum("━" in line for line in moment) <= 1, "\n".join(moment)
        assert sum("launcher/run." in line for line in moment) <= 2, "\n".join(moment)
    assert max(sum("launcher/run." in line for line in moment) for moment in seen.moments) == 2
    written = [f"{word} {number}" for word in ("printed", "logged", "rich") for number in range(10)]
    nodes = ("chief 0", "worker 1")
    printed = [f"[{node}] trained {n} on {node[-1]}" for node in nodes for n in range(1, 6)]
    for line in (*written, *printed, "bar 9 of 10"):
        assert seen.end.count(line) == 1, "\n".join([line, *seen.end])
    assert sum(line.startswith("bar") for line in seen.end) == 1
    assert sum("finished" in line for line in seen.end) == 3
    assert seen.bars()[-1] not in seen.end


def test_below_a_bar_of_the_programs_own_there_are_lines(watch: RefreshThread) -> None:
    seen = watch("inside", (80, 24), "running")
    assert all(sum("my own bar" in line for line in moment) <= 1 for moment in seen.moments)
    assert seen.end[-1].startswith("my own bar")
    assert sum("running" in line for line in seen.end) == 1
    assert not any("node  role" in line for moment in seen.moments for line in moment)


def test_a_study_is_one_table(watch: RefreshThread) -> None:
    seen = watch("search", (80, 24), "")
    seen.check_no_line_twice()
    assert "objective" in seen.end[0]
    assert seen.end[1].endswith("6 of 6 trials")
    assert seen.end[2] == "6 finished"
    assert seen.end[3].startswith("best: trial 1  metric = 0.72")
    assert len(seen.end) == 4


def test_a_table_drawn_again_and_again_leaves_nothing_between_what_others_print(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    be_a_common_terminal(monkeypatch)
    with Terminal() as terminal:
        monkeypatch.setattr(sys, "stderr", terminal.stream)
        monkeypatch.setattr(sys, "stdout", terminal.stream)
        display = LiveDisplay()
        screen = display.open()

        def talk(rank: int) -> None:
            for number in range(40):
                display.print_output([(rank, f"[{rank}] ", str(number))])

        threads = [threading.Thread(target=talk, args=(rank,)) for rank in range(3)]
        for thread in threads:
            thread.start()
        for phase in (Phase.AWAITED, Phase.RUNNING) * 40:
            screen.show(snapshot("run.1", phase))  # higher by a line while a node is awaited
        for thread in threads:
            thread.join()
        screen.close(keep=False)
        terminal.wait_until(lambda lines: len(lines) > 120 and not any(lines[120:]))
        assert sorted(terminal.lines[:120]) == sorted(f"[{rank}] {n}" for rank in range(3) for n in range(40))


def test_what_a_screen_leaves_is_above_those_that_are_open(monkeypatch: pytest.MonkeyPatch) -> None:
    be_a_common_terminal(monkeypatch)
    with Terminal() as terminal:
        monkeypatch.setattr(sys, "stderr", terminal.stream)
        monkeypatch.setattr(sys, "stdout", terminal.stream)
        display = LiveDisplay()
        first, second, third = (display.open() for _ in range(3))
        for screen, title in ((first, "run.1"), (second, "run.2"), (third, "run.3")):
            screen.show(snapshot(title))
        second.close(keep=True)
        first.close(keep=False)
        terminal.wait_until(lambda lines: titles(lines) == ["run.2", "run.3"])
        third.close(keep=True)
        assert sys.stderr is terminal.stream
        terminal.wait_until(lambda lines: titles(lines) == ["run.2", "run.3"] and not lines[-1])


def titles(lines: list[str]) -> list[str]:
    return [line.split()[0] for line in lines if line.startswith("run.")]


class Tall:
    """A picture higher than any terminal."""

    title = "tall"
    seconds = 0

    def table(self) -> Text:
        return Text("\n".join(f"row {number}" for number in range(100)))

    def news(self, _earlier: object) -> list[str]:
        return []

    def summary(self) -> str:
        return ""


def test_what_has_no_room_is_cut_and_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    be_a_common_terminal(monkeypatch)
    monkeypatch.setenv("COLUMNS", "80")  # rich asks the terminal of this process, which is another one
    monkeypatch.setenv("LINES", "24")
    with Terminal(rows=24) as terminal:
        monkeypatch.setattr(sys, "stderr", terminal.stream)
        monkeypatch.setattr(sys, "stdout", terminal.stream)
        screen = LiveDisplay().open()
        for _ in range(5):
            screen.show(Tall())
        terminal.wait_until(lambda lines: lines.count("row 0") == 1 and len(lines) <= 24)
        screen.close(keep=False)
