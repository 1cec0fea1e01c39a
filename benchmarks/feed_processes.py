"""How much time the processors spent on which processes of a side."""

from __future__ import annotations

import os
from collections import Counter

import psutil

DRIVER = "the driver"
OWNERS = {
    "CoarseGrainedExecutorBackend": "Spark's executors, which compute the rows",
    "pyspark.daemon": "their Python workers, which feed",
    "hopyard.worker.entry": "the nodes, which read",
    "hopyard.worker.detach.main": "the nodes' supervisors",
    "org.apache.spark.deploy.SparkSubmit": DRIVER,
}
KINDS = tuple(dict.fromkeys(OWNERS.values()))


def spent(folder: str) -> Counter[str]:
    """Returns the seconds that all processes of a side have had so far, by kind; a side has a folder of its own."""
    seconds: Counter[str] = Counter()
    own = psutil.Process()
    seconds[DRIVER] += _seconds(own)
    for process in psutil.process_iter():
        try:
            command = " ".join(process.cmdline())
            kinds = [kind for mark, kind in OWNERS.items() if mark in command]
            if kinds and process.pid != own.pid and _is_of(process, folder):
                seconds[kinds[0]] += _seconds(process)
        except psutil.NoSuchProcess:
            continue  # it has ended, long before what is measured began
    return seconds


def _seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system


def _is_of(process: psutil.Process, folder: str) -> bool:
    """Tells whether a process belongs to a side: its folder is in the environment of all of them."""
    return any(os.path.commonpath([folder, path]) == folder for path in _paths(process))


def _paths(process: psutil.Process) -> list[str]:
    return [value for value in process.environ().values() if value.startswith("/") and ":" not in value]
