from __future__ import annotations

import io
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from hopyard.errors import StillRunning
from hopyard.feed.state import STATE, FeedState
from hopyard.protocol.node_status import NodeStatus, Phase
from hopyard.protocol.plan import Plan
from hopyard.view.feed_meter import FeedMeter
from hopyard.view.view import View

from .terminal import Terminal, be_a_common_terminal

pytestmark = pytest.mark.unit

TITLE = "app/launcher/run.1"
RUNNING = [
    f"{TITLE}  0:00:00",
    "node  role    host  state    step  metrics",
    "   0  chief   a     running",
    "   1  worker  a     running",
]


class Run:
    """A pretended run, and a count of the looks at its nodes."""

    run_id = TITLE

    def __init__(self, plan: Plan, phase: Phase = Phase.RUNNING, *, goes_on: bool = False) -> None:
        self._plan = plan
        self.phase = phase
        self.looks = threading.Semaphore(0)
        self.rows: int | None = None
        self.ended = threading.Event()
        if not goes_on:
            self.ended.set()

    def has_ended(self, within_seconds: float = 0.0) -> bool:
        return self.ended.wait(within_seconds)

    def nodes(self) -> tuple[NodeStatus, ...]:
        self.looks.release()
        rows = self.rows
        notes = {} if rows is None else {STATE: FeedState(received=rows, consumed=rows).to_note()}
        return tuple(
            NodeStatus(rank=node.rank, role=node.role.value, phase=self.phase, host="a", notes=notes)
            for node in self._plan.nodes
        )

    def await_looks(self, count: int) -> None:
        for _ in range(count):
            assert self.looks.acquire(timeout=10)


@pytest.fixture
def plan() -> Plan:
    return Plan.of(2)


@pytest.fixture
def going_run(plan: Plan) -> Iterator[Run]:
    """A run that goes on until the test ends it, or has ended."""
    run = Run(plan, goes_on=True)
    yield run
    run.ended.set()


@pytest.fixture
def open_terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Terminal]]:
    """Opens the terminal that the test sits at; in the test, since pytest puts its own streams in place before."""
    be_a_common_terminal(monkeypatch)
    with ExitStack() as stack:

        def open_terminal() -> Terminal:
            terminal = stack.enter_context(Terminal())
            monkeypatch.setattr(sys, "stderr", terminal.stream)
            monkeypatch.setattr(sys, "stdout", terminal.stream)
            return terminal

        yield open_terminal


def quiet_view(
    plan: Plan, *, progress: bool | None = None, stream_logs: bool = True, meter: FeedMeter | None = None
) -> View:
    """A view for which no time passes, so that it shows the same again and again."""
    return View(plan, progress=progress, stream_logs=stream_logs, meter=meter, clock=lambda: 0.0)


def test_a_run_that_was_given_a_name_is_called_so(
    plan: Plan, going_run: Run, open_terminal: Callable[[], Terminal]
) -> None:
    terminal = open_terminal()
    view = View(plan, progress=None, stream_logs=False, name="prices\x1b[31m", clock=lambda: 0.0)
    with view.showing(going_run):
        terminal.wait_until(shows(r"prices\x1b[31m  0:00:00"))


def has_its_cursor(terminal: Terminal) -> bool:
    """Tells whether a cursor that was hidden is there again."""
    return 0 < terminal.received.count("\x1b[?25l") == terminal.received.count("\x1b[?25h")


def shows(text: str) -> Callable[[list[str]], bool]:
    return lambda lines: any(text in line for line in lines)


def test_a_terminal_shows_the_nodes_and_keeps_their_last_state(
    plan: Plan, open_terminal: Callable[[], Terminal]
) -> None:
    terminal = open_terminal()
    run = Run(plan)
    with quiet_view(plan).showing(run):
        terminal.wait_until(shows("running"))
        run.phase = Phase.FINISHED
    terminal.check(
        [
            f"{TITLE}  0:00:00",
            "node  role    host  state     step  metrics",
            "   0  chief   a     finished",
            "   1  worker  a     finished",
        ]
    )
    terminal.wait_until(lambda _: has_its_cursor(terminal))


def test_a_table_that_grows_and_shrinks_leaves_no_line_behind(
    plan: Plan, open_terminal: Callable[[], Terminal]
) -> None:
    terminal = open_terminal()
    run = Run(plan, Phase.AWAITED)
    with quiet_view(plan).showing(run):
        terminal.wait_until(shows("waiting for 2 of 2 nodes: chief 0, worker 1"))
        run.phase = Phase.RUNNING
        terminal.wait_until(shows("running"))
    terminal.wait_until(lambda lines: list(filter(None, lines)) == RUNNING)


def test_output_of_nodes_appears_above_the_table(plan: Plan, open_terminal: Callable[[], Terminal]) -> None:
    terminal = open_terminal()
    view = quiet_view(plan)
    with view.showing(Run(plan)):
        terminal.wait_until(shows("running"))
        view.lines(1, ("one", "two"))
        terminal.wait_until(shows("two"))
        assert terminal.lines[:3] == ["[worker 1] one", "[worker 1] two", f"{TITLE}  0:00:00"]
        view.lines(0, ("three",))
    terminal.check(["[worker 1] one", "[worker 1] two", "[chief 0] three", *RUNNING])


def test_output_longer_than_a_line_is_left_to_the_terminal_to_wrap(
    plan: Plan, open_terminal: Callable[[], Terminal]
) -> None:
    terminal = open_terminal()
    view = quiet_view(plan)
    long = "word " * 50 + "end"
    with view.showing(Run(plan)):
        terminal.wait_until(shows("running"))
        view.lines(0, (long,))
    terminal.check([f"[chief 0] {long}", *RUNNING])


def test_output_and_prints_of_many_threads_leave_lines_and_table_whole(
    plan: Plan, open_terminal: Callable[[], Terminal]
) -> None:
    terminal = open_terminal()
    view = quiet_view(plan)
    run = Run(plan)

    def talk(rank: int, name: str) -> None:
        for number in range(20):
            view.lines(rank, (f"{name} {number} " + "x" * 40,))
            run.phase = Phase.AWAITED if number % 2 else Phase.RUNNING

    def log() -> None:
        for number in range(20):
            sys.stderr.write(f"logged {number}\n")

    threads = [threading.Thread(target=talk, args=(index % 2, f"t{index}")) for index in range(4)]
    threads.append(threading.Thread(target=log))
    with view.showing(run):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        run.phase = Phase.RUNNING
    terminal.wait_until(lambda _: has_its_cursor(terminal))  # the last thing that is written
    spoken = [
        f"[{name}] t{i} {n} " + "x" * 40
        for i, name in enumerate(["chief 0", "worker 1"] * 2)
        for n in range(20)
    ]
    assert sorted(terminal.lines[:-5]) == sorted([*spoken, *(f"logged {n}" for n in range(20))])


def test_what_the_program_logs_appears_above_the_table(
    plan: Plan, open_terminal: Callable[[], Terminal]
) -> None:
    terminal = open_terminal()
    handler = logging.StreamHandler(sys.stderr)
    logging.getLogger().addHandler(handler)
    try:
        with quiet_view(plan).showing(Run(plan)):
            terminal.wait_until(shows("running"))
            logging.getLogger("program").warning("careful")
    finally:
        logging.getLogger().removeHandler(handler)
    terminal.check(["careful", *RUNNING])
    assert handler.stream is terminal.stream


def test_standard_output_in_a_file_stays_there_while_the_terminal_shows_the_table(
    plan: Plan, open_terminal: Callable[[], Terminal], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = open_terminal()
    view = quiet_view(plan)
    with (tmp_path / "out").open("w") as file:
        monkeypatch.setattr(sys, "stdout", file)
        with view.showing(Run(plan)):
            terminal.wait_until(shows("running"))
            view.lines(0, ("of a node",))
            sys.stdout.write("of the program\n")
    assert sorted((tmp_path / "out").read_text().splitlines()) == ["[chief 0] of a node", "of the program"]
    terminal.check(RUNNING)


@pytest.mark.parametrize("progress", [None, False])
def test_nothing_is_shown_where_nobody_looks(
    plan: Plan, progress: bool | None, capsys: pytest.CaptureFixture[str]
) -> None:
    run = Run(plan)
    with quiet_view(plan, progress=progress).showing(run):
        assert not any(thread.name == "hopyard-view" for thread in threading.enumerate())
    assert capsys.readouterr() == ("", "")


def test_a_terminal_shows_nothing_that_is_not_wanted(
    plan: Plan, open_terminal: Callable[[], Terminal]
) -> None:
    terminal = open_terminal()
    with quiet_view(plan, progress=False).showing(Run(plan)):
        pass
    assert terminal.received == ""


def test_progress_in_a_file_is_lines(plan: Plan, capsys: pytest.CaptureFixture[str]) -> None:
    run = Run(plan)
    with quiet_view(plan, progress=True).showing(run):
        run.await_looks(2)
    assert capsys.readouterr().err.splitlines() == [
        f"{TITLE} 0:00:00 chief 0: running on a",
        f"{TITLE} 0:00:00 worker 1: running on a",
    ]


def test_a_terminal_that_cannot_move_its_cursor_gets_lines(
    plan: Plan, open_terminal: Callable[[], Terminal], monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = open_terminal()
    monkeypatch.setenv("TERM", "dumb")
    with quiet_view(plan).showing(Run(plan)):
        terminal.wait_until(shows("worker 1: running on a"))
    assert "\x1b" not in terminal.received


def test_output_outside_a_terminal_is_left_as_it_is(plan: Plan, capsys: pytest.CaptureFixture[str]) -> None:
    view = quiet_view(plan)
    line = "[bold]a[/bold] :smile: \x1b[31mred\x1b[0m 50%\r100% " + "long " * 100
    view.lines(1, (line, ""))
    with view.showing(Run(plan)):
        pass
    assert capsys.readouterr().out == f"[worker 1] {line}\n[worker 1] \n"


def test_output_that_a_stream_cannot_encode_is_written_in_other_words(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = quiet_view(plan)
    with (tmp_path / "out").open("w", encoding="ascii") as file:
        monkeypatch.setattr(sys, "stdout", file)
        view.lines(0, ("d\xe9j\xe0 \udcff",))
        with view.showing(Run(plan)):
            pass
    assert (tmp_path / "out").read_text() == "[chief 0] d\\xe9j\\xe0 \\udcff\n"


def test_output_that_nobody_asked_for_is_not_shown(plan: Plan, capsys: pytest.CaptureFixture[str]) -> None:
    view = quiet_view(plan, stream_logs=False)
    view.lines(0, ("quiet",))
    with view.showing(Run(plan)):
        pass
    assert capsys.readouterr().out == ""


def test_output_appears_while_nobody_waits(plan: Plan, open_terminal: Callable[[], Terminal]) -> None:
    terminal = open_terminal()
    view = quiet_view(plan)
    view.lines(0, ("early",))
    terminal.wait_until(shows("[chief 0] early"))


def test_a_status_that_fails_ends_the_view_and_nothing_else(
    plan: Plan, open_terminal: Callable[[], Terminal], caplog: pytest.LogCaptureFixture
) -> None:
    terminal = open_terminal()
    fail = threading.Event()
    failed = threading.Event()

    class FailingRun(Run):
        def nodes(self) -> tuple[NodeStatus, ...]:
            if fail.is_set():
                failed.set()
                raise RuntimeError("no coordinator")
            return super().nodes()

    view = quiet_view(plan)
    with view.showing(FailingRun(plan)):
        terminal.wait_until(shows("running"))
        fail.set()
        assert failed.wait(10)
        view.lines(0, ("goes on",))
        terminal.wait_until(shows("goes on"))
    assert [record.getMessage() for record in caplog.records] == [
        "the run goes on, but is not shown here any more: RuntimeError: no coordinator"
    ]
    assert sys.stdout is terminal.stream


def test_a_terminal_that_is_closed_ends_the_view_and_nothing_else(
    plan: Plan, open_terminal: Callable[[], Terminal], caplog: pytest.LogCaptureFixture
) -> None:
    terminal = open_terminal()
    run = Run(plan)
    view = View(plan, progress=None, stream_logs=True)
    with view.showing(run):
        terminal.wait_until(shows("running"))
        terminal.hang_up()
        run.phase = Phase.FINISHED
        run.await_looks(3)
        view.lines(0, ("nobody reads this",))
    view.lines(0, ("nor this",))
    assert len(caplog.records) == 1
    assert "not shown here any more" in caplog.text
    assert sys.stdout is terminal.stream


def test_a_reader_of_the_output_who_leaves_ends_the_view_and_nothing_else(
    plan: Plan, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    view = quiet_view(plan)
    with os.fdopen(writer, "wb", buffering=0) as pipe, io.TextIOWrapper(pipe, write_through=True) as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        for number in range(2):
            view.lines(0, (f"line {number}",))
            with view.showing(Run(plan)):
                pass
    assert [record.getMessage() for record in caplog.records] == [
        "the run goes on, but is not shown here any more: BrokenPipeError: [Errno 32] Broken pipe"
    ]


def test_a_terminal_that_is_stopped_does_not_hold_up_those_who_bring_output(
    plan: Plan, open_terminal: Callable[[], Terminal]
) -> None:
    terminal = open_terminal()
    view = quiet_view(plan)
    terminal.stop_output()
    start = time.monotonic()
    for number in range(100):
        view.lines(0, (f"line {number}",))
    assert time.monotonic() - start < 2
    assert terminal.received == ""
    terminal.resume_output()
    terminal.check([f"[chief 0] line {number}" for number in range(100)])


def test_a_table_is_removed_when_somebody_stops_waiting(
    plan: Plan, open_terminal: Callable[[], Terminal]
) -> None:
    terminal = open_terminal()
    view = quiet_view(plan)
    for _ in range(2):
        with pytest.raises(StillRunning), view.showing(Run(plan, goes_on=True)):
            raise StillRunning(TITLE, 1.0)
    terminal.wait_until(lambda lines: not any(lines))


def test_a_table_goes_when_it_is_left_and_comes_again_as_long_as_the_run_goes_on(
    plan: Plan, open_terminal: Callable[[], Terminal]
) -> None:
    terminal = open_terminal()
    view = quiet_view(plan)
    run = Run(plan, goes_on=True)
    for _ in range(2):
        with view.showing(run):
            terminal.wait_until(shows("worker  a     running"))
        terminal.wait_until(lambda lines: not any(lines))
    run.ended.set()
    with view.showing(run):
        pass
    terminal.wait_until(lambda _: has_its_cursor(terminal))
    terminal.check(RUNNING)
    assert terminal.received.count("\x1b[?25l") == 3


def test_a_failure_leaves_the_end_of_the_run_or_nothing_if_it_goes_on(
    plan: Plan, open_terminal: Callable[[], Terminal]
) -> None:
    terminal = open_terminal()
    view = quiet_view(plan, meter=FeedMeter())
    run = Run(plan, goes_on=True)
    with pytest.raises(ValueError, match="no data"), view.feeding(run, 1):
        raise ValueError("no data")
    terminal.wait_until(lambda lines: not any(lines))
    run.phase = Phase.LOST
    run.ended.set()
    with pytest.raises(ArithmeticError), view.feeding(run, 1):
        raise ArithmeticError
    with view.showing(run):
        pass
    terminal.check(
        [
            f"{TITLE}  0:00:00",
            "node  role    host  state  step  metrics",
            "   0  chief   a     lost",
            "   1  worker  a     lost",
        ]
    )


def test_the_nodes_are_shown_until_the_last_who_waits_has_left(
    plan: Plan, open_terminal: Callable[[], Terminal]
) -> None:
    terminal = open_terminal()
    view = quiet_view(plan)
    run = Run(plan, goes_on=True)
    with ExitStack() as first, view.showing(run):
        first.enter_context(view.showing(run))
        terminal.wait_until(shows("running"))
        first.close()
        run.phase = Phase.FINISHED
        terminal.wait_until(shows("finished"))
    terminal.wait_until(lambda lines: not any(lines))


def test_what_the_nodes_are_fed_is_shown(plan: Plan, open_terminal: Callable[[], Terminal]) -> None:
    terminal = open_terminal()
    view = quiet_view(plan, meter=FeedMeter())
    run = Run(plan, goes_on=True)
    run.rows = 1_000
    with view.feeding(run, 3):
        terminal.wait_until(shows("2,000"))
        assert terminal.lines == [
            f"{TITLE}  0:00:00  epoch 1 of 3",
            "node  role    host  state     rows  step  metrics",
            "   0  chief   a     running  1,000",
            "   1  worker  a     running  1,000",
            " all                         2,000",
            "",  # where Spark draws its own progress
        ]


def test_a_node_that_has_taken_no_row_yet_is_starting(
    plan: Plan, open_terminal: Callable[[], Terminal]
) -> None:
    terminal = open_terminal()
    view = quiet_view(plan, meter=FeedMeter())
    run = Run(plan, goes_on=True)
    run.rows = 0
    with view.feeding(run, 1):
        terminal.wait_until(shows("   1  worker  a     starting     0"))
        run.rows = 10
        terminal.wait_until(shows("   1  worker  a     running    10"))


def test_a_phase_is_told_once_however_often_a_run_is_shown(
    plan: Plan, capsys: pytest.CaptureFixture[str]
) -> None:
    view = quiet_view(plan, progress=True)
    run = Run(plan, goes_on=True)
    for _ in range(2):
        with view.showing(run):
            run.await_looks(1)
    assert len(capsys.readouterr().err.splitlines()) == 2


def test_nodes_are_shown_beside_the_program_while_there_is_a_reason(
    plan: Plan, going_run: Run, open_terminal: Callable[[], Terminal]
) -> None:
    terminal = open_terminal()
    view = quiet_view(plan)
    reason = threading.Event()
    reason.set()
    view.accompany(going_run, reason.is_set)
    terminal.wait_until(shows("running"))
    sys.stdout.write("the program goes on\n")
    terminal.wait_until(shows("the program goes on"))
    assert terminal.lines == ["the program goes on", *RUNNING, ""]
    reason.clear()
    terminal.wait_until(lambda lines: list(filter(None, lines)) == ["the program goes on"])
    assert sys.stdout is terminal.stream


def test_who_waits_takes_over_what_is_shown_beside_the_program(
    plan: Plan, going_run: Run, open_terminal: Callable[[], Terminal]
) -> None:
    terminal = open_terminal()
    view = quiet_view(plan)
    with view.showing(going_run):
        view.accompany(going_run, lambda: True)
        terminal.wait_until(shows("running"))
    with view.showing(going_run):
        going_run.ended.set()
    terminal.check(RUNNING)
    assert terminal.received.count("\x1b[?25l") == 1


def test_nothing_is_shown_beside_somebody_who_types(
    plan: Plan, going_run: Run, open_terminal: Callable[[], Terminal], monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = open_terminal()
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    view = quiet_view(plan)
    view.accompany(going_run, lambda: bool(going_run.nodes()))
    going_run.await_looks(3)
    assert terminal.received == ""


def test_nothing_is_shown_beside_a_program_that_does_not_want_it(plan: Plan) -> None:
    threads = set(threading.enumerate())
    quiet_view(plan, progress=False).accompany(Run(plan, goes_on=True), lambda: True)
    assert set(threading.enumerate()) <= threads


PROGRAM = """
import threading
from hopyard.protocol.plan import Plan
from hopyard.view.view import View

class Run:
    run_id = "run.1"
    looks = threading.Semaphore(0)

    def has_ended(self, within_seconds=0.0):
        return threading.Event().wait(within_seconds)

    def nodes(self):
        self.looks.release()
        return ()

View(Plan.of(2), progress=None, stream_logs=False).accompany(Run(), lambda: True)
for _ in range(5):
    Run.looks.acquire()
raise RuntimeError("no idea")
"""


def test_a_program_that_ends_while_nodes_are_shown_gives_its_terminal_back(
    open_terminal: Callable[[], Terminal],
) -> None:
    terminal = open_terminal()
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        stdout=terminal.stream,
        stderr=terminal.stream,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 1
    terminal.wait_until(shows("RuntimeError: no idea"))
    terminal.wait_until(lambda _: has_its_cursor(terminal))


def test_a_table_stays_when_somebody_interrupts(plan: Plan, open_terminal: Callable[[], Terminal]) -> None:
    terminal = open_terminal()
    with pytest.raises(KeyboardInterrupt), quiet_view(plan).showing(Run(plan)):
        raise KeyboardInterrupt
    terminal.check(RUNNING)


def test_the_end_of_a_run_is_shown_once(plan: Plan, open_terminal: Callable[[], Terminal]) -> None:
    terminal = open_terminal()
    view = quiet_view(plan)
    for _ in range(2):
        with view.showing(Run(plan)):
            pass
    terminal.check(RUNNING)


def test_what_has_not_changed_is_not_drawn_again(plan: Plan, open_terminal: Callable[[], Terminal]) -> None:
    terminal = open_terminal()
    run = Run(plan)
    with quiet_view(plan).showing(run):
        terminal.wait_until(shows("worker  a     running"))
        drawn = terminal.received.count(TITLE)
        run.await_looks(3)
        assert terminal.received.count(TITLE) == drawn


def test_looks_are_half_a_second_apart(plan: Plan, open_terminal: Callable[[], Terminal]) -> None:
    open_terminal()
    run = Run(plan)
    with quiet_view(plan).showing(run):
        run.await_looks(1)
        start = time.monotonic()
        run.await_looks(1)
        assert time.monotonic() - start > 0.4


def test_the_thread_ends_with_the_context(plan: Plan, open_terminal: Callable[[], Terminal]) -> None:
    open_terminal()
    with quiet_view(plan).showing(Run(plan)):
        assert any(thread.name == "hopyard-view" for thread in threading.enumerate())
    assert not any(thread.name == "hopyard-view" for thread in threading.enumerate())
