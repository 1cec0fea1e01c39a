"""How far a training is, shown while it runs: a line for each epoch, and on a terminal a bar below them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, Self

from hopyard.cli.output import console
from hopyard.cli.output.wording import number
from hopyard.errors import HopyardError
from hopyard.view.activity import Activity, showing

if TYPE_CHECKING:
    from hopyard.tracking import MetricPoint

POLL_SECONDS = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Epoch:
    """What was reported for one epoch."""

    number: int
    metrics: Mapping[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        return " ".join(f"{name} {number(value)}" for name, value in sorted(self.metrics.items()))


def epochs_of(points: Iterable[MetricPoint]) -> list[Epoch]:
    """Returns the epochs that points tell of, in order."""
    metrics: dict[int, dict[str, float]] = {}
    for point in points:
        metrics.setdefault(point.step, {})[point.name] = point.value
    return [Epoch(number=step, metrics=values) for step, values in sorted(metrics.items())]


class Display(Protocol):
    """Where progress is shown."""

    def show(self, epoch: Epoch) -> None:
        """Shows an epoch that has ended."""
        ...


class Watch:
    """A thread that looks at a run's metrics now and then and shows each epoch once, while its context is open."""

    def __init__(self, read: Callable[[], Iterable[MetricPoint]], display: Display) -> None:
        """Prepares a watch.

        Args:
            read: Returns all points so far.
            display: Where to show them.
        """
        self._read = read
        self._display = display
        self._shown = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="hopyard-demo-watch", daemon=True)
        self._failure: HopyardError | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        if self._failure is not None:
            console.warning(f"progress could not be shown: {self._failure}")

    def _loop(self) -> None:
        try:
            while not self._over.wait(POLL_SECONDS):
                self._look()
            self._look()  # what came between the last look and the end
        except HopyardError as error:
            # the training goes on; who opened the watch tells at the end that nothing was seen
            self._failure = error

    def _look(self) -> None:
        for epoch in epochs_of(self._read()):
            if epoch.number > self._shown:
                self._shown = epoch.number
                self._display.show(epoch)


class Lines:
    """Progress as lines of text."""

    def __init__(self, total: int) -> None:
        self._total = total

    def show(self, epoch: Epoch) -> None:
        """Prints a line."""
        console.line(f"epoch {epoch.number}/{self._total} {epoch}")


class Bar:
    """Progress as lines of text, and a bar below them."""

    def __init__(self, total: int) -> None:
        self._lines = Lines(total)
        self.activity = Activity("Training", total)

    def show(self, epoch: Epoch) -> None:
        """Prints a line and moves the bar."""
        self.activity.reach(epoch.number)
        self._lines.show(epoch)


@contextmanager
def training_display(epochs: int) -> Iterator[Display]:
    """Gives the display that fits to where standard output goes."""
    console.line("Starting the training process")
    if console.terminal() is None:
        yield Lines(epochs)
        return
    bar = Bar(epochs)
    with showing(bar.activity):
        yield bar
