"""Programs that show something live on their terminal; the first argument says which."""

from __future__ import annotations

import logging
import os
import sys
import threading
from pathlib import Path

import rich
from rich.progress import Progress

import hopyard
from hopyard.cli.demo.demo import expected_run
from hopyard.cli.output.progress import Watch, training_display
from hopyard.store import Project
from hopyard.testing.watching import wait_until
from hopyard.tracking import RunReader

EPOCHS = 5
GO_ON = Path(os.environ["HOPYARD_ROOT"], "go-on")  # made by whoever watches


def train(ctx: hopyard.NodeContext) -> float:
    """Says what it does, and waits with the last epoch."""
    for epoch in range(1, EPOCHS + 1):
        if epoch == EPOCHS:
            wait_until(GO_ON.exists, "somebody has seen enough", 30)
        print(f"trained {epoch} on {ctx.rank}")
        ctx.report(epoch, loss=1 / epoch)
    return 1.0


def launch(**options: object) -> None:
    hopyard.launch(train, backend="processes", **options)  # type: ignore[arg-type]


def epochs() -> None:
    """Trains as the demo does."""
    run = RunReader(Project.open(), expected_run(None))
    with training_display(EPOCHS) as display, Watch(run.metrics, display):
        launch(progress=False)
    print("done")


def together() -> None:
    """Shows two runs and a bar at the same time, and writes in all ways that a program has."""
    logging.basicConfig(format="logged %(message)s")
    first = threading.Thread(target=launch)
    first.start()
    second = threading.Thread(target=launch, kwargs={"nodes": 2, "stream_logs": True})
    with training_display(EPOCHS):
        second.start()
        talk()
        second.join()
    first.join()


def talk() -> None:
    """Writes lines, and a bar of its own that is written over."""
    for number in range(10):
        print(f"printed {number}")
        logging.warning("%d", number)
        rich.print(f"[green]rich[/green] {number}")
    for number in range(10):
        sys.stderr.write(f"\rbar {number} of 10")
        sys.stderr.flush()
    sys.stderr.write("\n")


def inside() -> None:
    """Launches below a bar of its own, which has the terminal then."""
    with Progress() as progress:
        task = progress.add_task("my own bar", total=1)
        launch()
        progress.advance(task)


def search() -> None:
    """Searches."""
    hopyard.search(
        objective,
        {"x": hopyard.Range(0.0, 1.0)},
        direction="max",
        trials=6,
        parallel=2,
        seed=1,
        backend="processes",
    )


def objective(x: float, ctx: hopyard.NodeContext) -> float:
    ctx.report(1, loss=x)
    return x


if __name__ == "__main__":
    {each.__name__: each for each in (epochs, together, inside, search)}[sys.argv[1]]()
