from __future__ import annotations

import threading

import pytest

from hopyard.cli.output.progress import Epoch, Lines, Watch, epochs_of
from hopyard.errors import StoreFailed
from hopyard.tracking import MetricPoint

pytestmark = pytest.mark.unit


def point(step: int, name: str, value: float) -> MetricPoint:
    return MetricPoint(name=name, step=step, value=value, time=0.0)


class Shown:
    """A display that remembers."""

    def __init__(self) -> None:
        self.epochs: list[int] = []
        self.changed = threading.Event()

    def show(self, epoch: Epoch) -> None:
        self.epochs.append(epoch.number)
        self.changed.set()


def test_points_of_a_step_make_one_epoch() -> None:
    points = [point(2, "loss", 0.5), point(1, "loss", 0.9), point(1, "accuracy", 0.25)]
    assert [str(epoch) for epoch in epochs_of(points)] == ["accuracy 0.25 loss 0.9", "loss 0.5"]


def test_a_watch_shows_each_epoch_once_while_it_is_open() -> None:
    points = [point(1, "loss", 0.9)]
    shown = Shown()
    with Watch(lambda: points, shown):
        assert shown.changed.wait(10)
        points.append(point(2, "loss", 0.5))
    assert shown.epochs == [1, 2]


def test_a_watch_that_cannot_read_leaves_the_training_alone(capsys: pytest.CaptureFixture[str]) -> None:
    def read() -> list[MetricPoint]:
        raise StoreFailed("s3://bucket", "no route")

    with Watch(read, Shown()):
        pass
    assert "progress could not be shown: the store failed" in capsys.readouterr().err


def test_progress_in_a_pipe_is_a_line_for_each_epoch(capsys: pytest.CaptureFixture[str]) -> None:
    Lines(12).show(Epoch(number=3, metrics={"accuracy": 0.93, "loss": 0.2}))
    assert capsys.readouterr().out == "epoch 3/12 accuracy 0.93 loss 0.2\n"
