"""The nodes of a run as the driver shows them while they are fed."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hopyard import Cluster, NodeContext
from hopyard.errors import BadArguments
from hopyard.testing.watching import wait_until

from ..unit.view.terminal import Terminal, be_a_common_terminal  # noqa: TID252  tests are no package

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

ROWS = 3_000
SEEN_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class HeldRows:
    """Rows of a partition, some megabytes; the last of them comes when somebody has put a file in place."""

    file: str

    def __call__(self, _: Iterator[Any]) -> Iterator[bytes]:
        for _row in range(ROWS - 1):
            yield bytes(1_000)
        wait_until(Path(self.file).exists, "the rows have been seen", 120)
        yield b"last"


def count_rows(ctx: NodeContext) -> int:
    """Returns how many rows came."""
    return sum(map(len, ctx.feed()))


def measure_rows(ctx: NodeContext) -> None:
    """Answers each row with its length."""
    feed = ctx.feed()
    while len(batch := feed.next_batch(100)):
        feed.batch_results([len(row) for row in batch])


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    be_a_common_terminal(monkeypatch)
    with Terminal() as terminal:
        yield terminal


def shows_rows(lines: list[str]) -> bool:
    """Tells whether there is a table, in which all nodes together have rows."""
    return any(line.startswith(" all  ") and int(line.split()[1].replace(",", "")) > 0 for line in lines)


class Onlooker:
    """Waits in a thread until the terminal shows something, and then lets the last rows come."""

    def __init__(self, terminal: Terminal, file: Path, is_seen: Callable[[list[str]], bool]) -> None:
        self._terminal = terminal
        self._file = file
        self._is_seen = is_seen
        self.seen: list[str] = []
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> Onlooker:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._thread.join()

    def _look(self) -> None:
        try:
            self._terminal.wait_until(self._is_seen, SEEN_SECONDS)
            self.seen = self._terminal.lines
        finally:
            self._file.touch()


def test_train_shows_what_is_fed_and_the_end_of_the_run_is_shown_once(
    spark: SparkSession, terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", terminal.stream)
    rows = spark.sparkContext.parallelize([0], 1).mapPartitions(HeldRows(str(tmp_path / "go")))
    with Cluster(count_rows, nodes=2, feed=True) as cluster:
        with Onlooker(terminal, tmp_path / "go", shows_rows) as onlooker:
            cluster.train(rows, epochs=2)
        terminal.wait_until(lambda lines: not any(lines))
        with pytest.raises(BadArguments):
            cluster.train([1, 2])
        cluster.shutdown()
        cluster.shutdown()
    assert onlooker.seen[0].startswith(cluster.run_id)
    assert onlooker.seen[0].endswith("  epoch 1 of 2")
    assert onlooker.seen[1].split()[:5] == ["node", "role", "host", "state", "rows"]
    terminal.wait_until(
        lambda _: terminal.received.count("\x1b[?25l") == terminal.received.count("\x1b[?25h")
    )
    assert f" {2 * ROWS:,}" in "".join(terminal.lines)
    shown = list(filter(None, terminal.lines))
    assert [line.split()[0] for line in shown] == [cluster.run_id, "node", "0", "1", "all"]


def test_results_are_shown_while_they_are_computed(
    spark: SparkSession, terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", terminal.stream)
    rows = spark.sparkContext.parallelize([0, 0], 2).mapPartitions(HeldRows(str(tmp_path / "go")))
    with Cluster(measure_rows, nodes=2, feed=True) as cluster:
        results = cluster.inference(rows)
        terminal.wait_until(lambda lines: not any(lines))
        with Onlooker(terminal, tmp_path / "go", shows_rows) as onlooker:
            assert results.sum() == 2 * (1_000 * (ROWS - 1) + len("last"))
        cluster.shutdown()
    assert onlooker.seen[0].startswith(cluster.run_id)
    shown = list(filter(None, terminal.lines))
    assert [line.split()[0] for line in shown] == [cluster.run_id, "node", "0", "1", "all"]


def test_lines_tell_what_was_fed(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    with Cluster(count_rows, nodes=2, feed=True, progress=True) as cluster:
        cluster.train(spark.range(1_000), epochs=2)
        cluster.train(spark.range(500))
        cluster.shutdown()
    lines = [line.split(" ", 2) for line in capsys.readouterr().err.splitlines()]
    assert {run for run, _, _ in lines} == {cluster.run_id}
    told = [text for _, _, text in lines if text.endswith(" rows fed") or " finished on " in text]
    ends = [text for text in told if "finished" in text]
    assert sorted(text.split(" on ")[0] for text in ends) == ["chief 0: finished", "worker 1: finished"]
    assert told[-4:-2] == ["epoch 2 of 2: 1,000 rows fed", "500 rows fed"]


def test_nothing_is_shown_that_is_not_wanted(
    spark: SparkSession, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", terminal.stream)
    with Cluster(measure_rows, nodes=1, feed=True, progress=False) as cluster:
        assert cluster.inference(spark.sparkContext.parallelize([b"abc"], 1)).collect() == [3]
    assert terminal.received == ""
