from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import pytest

from hopyard.protocol.node_status import NodeStatus, Phase
from hopyard.view.feed_meter import Fed, Rows
from hopyard.view.run_snapshot import Snapshot
from hopyard.view.screens import (
    LineScreen,
    NotebookScreen,
    screen_for,
)

pytestmark = pytest.mark.unit


def snapshot(*phases: Phase, seconds: float = 0.0, feed: Fed | None = None) -> Snapshot:
    nodes = [
        NodeStatus(
            rank=rank,
            role="worker",
            phase=phase,
            host="" if phase is Phase.AWAITED else "a",
            step=7 if phase is Phase.RUNNING else None,
            metrics={"loss": 0.5} if phase is Phase.RUNNING else {},
        )
        for rank, phase in enumerate(phases)
    ]
    return Snapshot.of("run.1", seconds=seconds, nodes=nodes, feed=feed)


class Output:
    """An output below a cell, as IPython's ``display`` makes one."""

    def __init__(self) -> None:
        self.shown: list[dict[str, str]] = []

    def display(self, shown: dict[str, str], *, raw: bool, display_id: bool) -> Output:
        assert display_id
        self.update(shown, raw=raw)
        return self

    def update(self, shown: dict[str, str], *, raw: bool) -> None:
        assert raw
        self.shown.append(shown)


def test_lines_tell_each_change_of_a_phase_once(capsys: pytest.CaptureFixture[str]) -> None:
    screen = LineScreen()
    for seconds, second_phase in enumerate((Phase.AWAITED, Phase.ARRIVED, Phase.ARRIVED, Phase.FAILED)):
        screen.show(snapshot(Phase.RUNNING, second_phase, seconds=seconds))
    assert capsys.readouterr().err.splitlines() == [
        "run.1 0:00:00 worker 0: running on a",
        "run.1 0:00:01 worker 1: arrived on a",
        "run.1 0:00:03 worker 1: failed on a",
    ]


def test_lines_tell_every_ten_seconds_how_far_the_nodes_are(capsys: pytest.CaptureFixture[str]) -> None:
    screen = LineScreen()
    for seconds in range(0, 30, 4):
        screen.show(snapshot(Phase.RUNNING, Phase.FINISHED, seconds=seconds))
    assert capsys.readouterr().err.splitlines()[2:] == [
        "run.1 0:00:12 1 running, 1 finished; worker 0 step 7 loss 0.5",
        "run.1 0:00:24 1 running, 1 finished; worker 0 step 7 loss 0.5",
    ]


def test_lines_tell_who_is_awaited(capsys: pytest.CaptureFixture[str]) -> None:
    LineScreen().show(snapshot(Phase.AWAITED, Phase.AWAITED, seconds=10))
    assert capsys.readouterr().err == "run.1 0:00:10 waiting for 2 of 2 nodes: worker 0-1\n"


def test_changes_of_many_nodes_at_once_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    LineScreen().show(snapshot(*[Phase.RUNNING] * 50))
    assert capsys.readouterr().err == "run.1 0:00:00 worker 0-49: running\n"


def test_lines_tell_each_epoch_that_was_fed_once(capsys: pytest.CaptureFixture[str]) -> None:
    screen = LineScreen()
    for number in (0, 1, 1, 2):
        fed = Fed(rows={0: Rows(count=5)}, number=number, done=f"{number} is fed")
        screen.show(snapshot(Phase.AWAITED, feed=fed))
    assert capsys.readouterr().err == "run.1 0:00:00 1 is fed\nrun.1 0:00:00 2 is fed\n"


def test_lines_tell_the_rows_of_nodes_and_of_all(capsys: pytest.CaptureFixture[str]) -> None:
    rows = {0: Rows(count=5_000, per_second=70, waiting=3), 1: Rows(count=2_000, per_second=30)}
    fed = Fed(rows=rows, under_way="epoch 2 of 3")
    LineScreen().show(snapshot(Phase.RUNNING, Phase.ARRIVED, seconds=10, feed=fed))
    assert capsys.readouterr().err.splitlines()[-1] == (
        "run.1 0:00:10 1 arrived, 1 running; epoch 2 of 3; 7,000 rows, 100 rows/s, 3 waiting; "
        "worker 0 has 5,000 rows, 70 rows/s, 3 waiting, step 7 loss 0.5; worker 1 has 2,000 rows, 30 rows/s"
    )


def test_lines_go_on_where_they_were_when_a_run_is_shown_again() -> None:
    first = screen_for(progress=True)
    assert isinstance(first, LineScreen)
    assert screen_for(progress=True, earlier=first) is first


def test_a_notebook_has_one_output_that_is_updated() -> None:
    output = Output()
    screen = NotebookScreen(output.display, 1)
    screen.show(snapshot(Phase.RUNNING))
    screen.show(snapshot(Phase.FINISHED))
    screen.close(keep=True)
    assert len(output.shown) == 2
    assert "finished" in output.shown[-1]["text/plain"]
    assert "finished</span>" in output.shown[-1]["text/html"]


def test_a_notebook_loses_a_table_that_is_not_to_be_kept() -> None:
    output = Output()
    screen = NotebookScreen(output.display, 1)
    screen.show(snapshot(Phase.RUNNING))
    screen.close(keep=False)
    assert output.shown[-1] == {}


def test_a_table_comes_again_at_its_place_in_a_cell_and_in_another_cell_at_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shell = SimpleNamespace(kernel=object(), execution_count=1)
    ipython, display = ModuleType("IPython"), ModuleType("IPython.display")
    ipython.get_ipython, display.display = lambda: shell, Output().display  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    first = screen_for(progress=None)
    assert screen_for(progress=None, earlier=first) is first
    shell.execution_count = 2
    assert screen_for(progress=None, earlier=first) is not first


@pytest.mark.parametrize(
    ("shell", "is_notebook"), [(SimpleNamespace(kernel=object()), True), (object(), False)]
)
def test_a_notebook_is_told_from_other_shells(
    shell: object, is_notebook: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    ipython, display = ModuleType("IPython"), ModuleType("IPython.display")
    ipython.get_ipython, display.display = lambda: shell, Output().display  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    screen = screen_for(progress=None)
    assert isinstance(screen, NotebookScreen) == is_notebook
