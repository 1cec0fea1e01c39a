"""Spark on this machine, with executors that are processes of their own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hopyard.errors import InvalidSessionSetting, SessionConflict
from hopyard.spark.session.active import active_spark, refuse_node
from hopyard.spark.session.java import require_java
from hopyard.spark.session.memory import memory_in_mb
from hopyard.spark.session.supported import refuse_connect_mode, require_pyspark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LEAST_MEMORY_MB = 512  # below, Spark's executors refuse to start
_SET_BY_ARGUMENT = {
    "spark.app.name": "name",
    "spark.executor.memory": "memory",
    "spark.executor.resource.gpu.amount": "gpus",
    "spark.master": "executors, cores and memory",
    "spark.task.resource.gpu.amount": "gpus",
    "spark.ui.enabled": "ui",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalCluster:
    """What an embedded Spark is to be like; two of these that are equal share a session."""

    executors: int = 2
    cores: int = 1
    memory: str = "1g"
    gpus: int = 0
    name: str = "hopyard"
    ui: bool = False
    gpu_discovery_script: Path | None = None
    conf: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, least in {"executors": 1, "cores": 1, "gpus": 0}.items():
            value = getattr(self, name)
            if type(value) is not int or value < least:
                raise InvalidSessionSetting(name, repr(value), f"give a whole number of at least {least}")
        if self.memory_mb < _LEAST_MEMORY_MB:
            raise InvalidSessionSetting("memory", repr(self.memory), f"give at least {_LEAST_MEMORY_MB}m")
        for key in sorted(self.conf.keys() & _SET_BY_ARGUMENT.keys()):
            remedy = f"use the argument {_SET_BY_ARGUMENT[key]} instead"
            raise InvalidSessionSetting(f"conf[{key!r}]", repr(self.conf[key]), remedy)

    @property
    def memory_mb(self) -> int:
        """Memory of an executor in MiB."""
        return memory_in_mb("memory", self.memory)

    @property
    def master(self) -> str:
        """The master URL that Spark knows this cluster by."""
        return f"local-cluster[{self.executors},{self.cores},{self.memory_mb}]"


def local_spark(
    *,
    executors: int = 2,
    cores: int = 1,
    memory: str = "1g",
    gpus: int = 0,
    name: str = "hopyard",
    ui: bool = False,
    gpu_discovery_script: Path | str | None = None,
    conf: Mapping[str, str] | None = None,
    start_timeout_seconds: float = 120.0,
) -> SparkSession:
    """Returns a Spark session on this machine whose executors are up.

    Every executor is a process of its own, as on a cluster. All files of the session are in one temporary
    folder (setting ``spark.hopyard.folder``) that goes when the session stops. All ports are on
    127.0.0.1. If an equal session is active already, it is returned. ``with local_spark() as spark:``
    stops the session at the end.

    Args:
        executors: Number of executors.
        cores: Tasks that an executor runs at once.
        memory: Memory of an executor's JVM, such as ``512m`` or ``2g``.
        gpus: GPUs of an executor, its own.
        name: Name of the application.
        ui: Whether to serve Spark's web pages, on 127.0.0.1.
        gpu_discovery_script: Program that prints the machine's GPUs as
            ``{"name": "gpu", "addresses": ["0", …]}``; nvidia-smi is asked if not given.
        conf: More Spark settings.
        start_timeout_seconds: How long to wait until all executors have arrived.

    Raises:
        CalledOnNode: This process is a node of a run.
        InvalidSessionSetting: An argument is out of its range.
        JavaNotFound: There is no Java 17 or newer.
        MissingDependency: pyspark is not installed.
        NotEnoughGpus: The machine has too few GPUs.
        SessionConflict: Another session is active in this process.
        SparkNotStarted: Spark failed to start, or not all executors came in time.
        SparkUnusable: pyspark is too old, or this process uses Spark Connect.
    """
    refuse_node()
    script = None if gpu_discovery_script is None else Path(gpu_discovery_script).absolute()
    cluster = LocalCluster(
        executors=executors,
        cores=cores,
        memory=memory,
        gpus=gpus,
        name=name,
        ui=ui,
        gpu_discovery_script=script,
        conf=dict(conf or {}),
    )
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        raise SessionConflict(
            "spark-submit, which started this program", "run the program with python instead"
        )
    require_pyspark("a Spark session")
    refuse_connect_mode()
    from hopyard.spark.session import embedded

    if (running := embedded.running_session(cluster, active_spark())) is not None:
        return running
    require_java()
    return embedded.start(cluster, start_timeout_seconds=start_timeout_seconds)
