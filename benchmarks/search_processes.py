"""How much memory the processes of a study have, by kind, and how that changes."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

import psutil

DRIVER, JVM, EXECUTORS, WORKERS, TRIALS = (
    "the driver's Python",
    "the driver's JVM",
    "Spark's executors",
    "slots: Spark's Python workers",
    "slots: processes of trials",
)
MARKS = {
    "hopyard.search.trial.entry": TRIALS,
    "pyspark.daemon": WORKERS,
    "CoarseGrainedExecutorBackend": EXECUTORS,
    "org.apache.spark.deploy.SparkSubmit": JVM,
}
KINDS = (DRIVER, JVM, EXECUTORS, WORKERS, TRIALS)
MB = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The resident memory of each kind of process at one time, in MB."""

    time: float
    memory: Mapping[str, float]


@dataclass(slots=True)
class Watch:
    """Looks at the memory of this process and all below it, every second while the context is open."""

    seconds: float = 1.0
    samples: list[Sample] = field(default_factory=list)
    _over: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._look, name="memory")
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        assert self._thread is not None
        self._thread.join()

    def nearest(self, moment: float) -> Mapping[str, float]:
        """Returns the memory at the time nearest to a moment."""
        return min(self.samples, key=lambda sample: abs(sample.time - moment)).memory

    def _look(self) -> None:
        while not self._over.wait(self.seconds):
            self.samples.append(Sample(time=time.time(), memory=resident()))


def resident() -> dict[str, float]:
    """Returns the resident memory of this process and of all below it, by kind, in MB."""
    own = psutil.Process()
    memory = dict.fromkeys(KINDS, 0.0)
    memory[DRIVER] = own.memory_info().rss / MB
    for process in own.children(recursive=True):
        try:
            command = " ".join(process.cmdline())
            kind = next((kind for mark, kind in MARKS.items() if mark in command), None)
            if kind is not None:
                memory[kind] += process.memory_info().rss / MB
        except psutil.NoSuchProcess:
            continue  # it has ended meanwhile
    return memory
