"""Start and end of a cluster of two nodes, TensorFlowOnSpark's own against ours.

Both sides run the same program (`cluster_program`) through the same interface, each with a Spark of its own that stays
up, and take turns. ``python -m benchmarks.cluster old`` measures one side alone.
"""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from benchmarks.old_library import VERSION, old_python
from benchmarks.report import Table

PROGRAM = Path(__file__).with_name("cluster_program.py")
TIMES = 5
FUNCTIONS = {
    "takes no time": {"seconds": 0, "imports": ""},
    "takes 2 s": {"seconds": 2, "imports": ""},
    "imports TensorFlow": {"seconds": 0, "imports": "tensorflow"},
}
STOP_SECONDS = 60
TITLES = {"old": f"TensorFlowOnSpark {VERSION}", "new": "Hopyard"}
STEPS = {
    "run": "run() has returned",
    "function": "the function begins on both nodes",
    "shutdown": "shutdown() has returned, after the end of the function",
    "all": "all in all, without the 2 s",
}

Steps = dict[str, float]


class Side:
    """A running program that starts and ends a cluster whenever it is asked to."""

    def __init__(self, python: Path, folder: Path) -> None:
        self.log = folder / "log"
        environment = {**os.environ, "TMPDIR": str(folder), "HOPYARD_ROOT": str(folder / "root")}
        environment.pop("PYTHONPATH", None)  # each side finds the library of its own Python
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [python, "-P", PROGRAM, folder],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=environment,
                cwd=folder,
                text=True,
            )

    def __enter__(self) -> Side:
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()  # its Spark ends with it
            self.process.wait()

    def measure(self, function: Mapping[str, object]) -> Steps:
        """Returns what a cluster took whose function does that."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with contextlib.suppress(BrokenPipeError):  # it has ended, and gives no answer
            print(json.dumps(function), file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f"a cluster failed; the end of the log:\n{self.log.read_text()[-4000:]}")
        steps: Steps = json.loads(answer)
        return steps


def run() -> Table:
    """Measures both sides."""
    return measure({"old": old_python(), "new": own_python()})


def own_python() -> Path:
    return Path(sys.executable)


def measure(pythons: Mapping[str, Path]) -> Table:
    """Measures the sides that have a Python here, by turns."""
    with contextlib.ExitStack() as resources:
        sides = {}
        for name, python in pythons.items():
            folder = Path(resources.enter_context(tempfile.TemporaryDirectory(prefix="bench-")))
            sides[name] = resources.enter_context(Side(python, folder))
        rows: list[tuple[str, ...]] = []
        plans = [("first of a session", FUNCTIONS["takes no time"], 1)]
        plans += [(title, function, TIMES) for title, function in FUNCTIONS.items()]
        for title, function, times in plans:
            taken: dict[str, list[Steps]] = {name: [] for name in sides}
            for _ in range(times):
                for name, side in sides.items():
                    taken[name].append(side.measure(function))
            rows += _rows(title, taken)
    compared = ("ratio",) if len(pythons) > 1 else ()
    return Table(
        title="Start and end of a cluster",
        columns=("function", "step", *(f"{TITLES[name]}, s" for name in pythons), *compared),
        rows=tuple(rows),
        notes=f"A chief and a worker on `local-cluster[2,1,1024]`; median (least to most) of {TIMES} clusters of one "
        "session, the sides by turns. Steps count from the call of run(). TensorFlowOnSpark runs the function in "
        "Spark's Python worker, which loads TensorFlow for the first cluster of a session and keeps it; ours runs it in "
        "a process of its own, which loads what the function asks for.",
    )


def _rows(function: str, taken: Mapping[str, list[Steps]]) -> Iterable[tuple[str, ...]]:
    for step, title in STEPS.items():
        figures = [[steps[step] for steps in each] for each in taken.values()]
        medians = [statistics.median(each) for each in figures]
        ratio = (f"{medians[0] / medians[1]:.1f}",) if len(medians) > 1 else ()
        yield (function, title, *(_text(each) for each in figures), *ratio)


def _text(figures: list[float]) -> str:
    median = f"{statistics.median(figures):.2f}"
    return median if len(figures) == 1 else f"{median} ({min(figures):.2f} to {max(figures):.2f})"


if __name__ == "__main__":
    choices = {"old": old_python, "new": own_python}
    print(measure({name: choices[name]() for name in sys.argv[1:] or choices}).render())
