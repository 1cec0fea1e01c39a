"""What a Spark session gives to a run: how many executions at once, and what each may use."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Self

from hopyard.errors import InvalidSessionSetting
from hopyard.spark.session.memory import memory_in_mb

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark import SparkContext
    from pyspark.sql import SparkSession

_INSTANCES = "spark.executor.instances"
_MAX_EXECUTORS = "spark.dynamicAllocation.maxExecutors"
_MEMORY = "spark.executor.memory"
_EXECUTOR_GPUS = "spark.executor.resource.gpu.amount"
_TASK_GPUS = "spark.task.resource.gpu.amount"
_PARAMETER_SERVERS = "spark.tensorflow.num.ps"
_LOCAL_CLUSTER = re.compile(r"local-cluster\[\s*(?P<executors>\d+)\s*,.*\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSettings:
    """The resources of a session, as numbers.

    Attributes:
        max_parallel: How many executions may run at once, parameter servers not counted.
        executor_memory_mb: Memory of an executor's JVM in MiB.
        executor_gpus: GPUs of an executor; its task gets all of them.
        parameter_servers: How many executors are kept for parameter servers.
    """

    max_parallel: int = 1
    executor_memory_mb: int = 1024
    executor_gpus: int = 0
    parameter_servers: int = 0

    def __post_init__(self) -> None:
        least = {"max_parallel": 1, "executor_memory_mb": 1, "executor_gpus": 0, "parameter_servers": 0}
        for field in fields(self):
            value = getattr(self, field.name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least[field.name]:
                raise InvalidSessionSetting(
                    field.name, repr(value), f"give a whole number of at least {least[field.name]}"
                )

    @property
    def num_executors(self) -> int:
        """All executors of the session, those of parameter servers included."""
        return self.max_parallel + self.parameter_servers

    def to_conf(self) -> dict[str, str]:
        """Returns the Spark configuration that asks a cluster for these resources."""
        conf = {
            _INSTANCES: str(self.num_executors),
            _MAX_EXECUTORS: str(self.num_executors),
            _MEMORY: f"{self.executor_memory_mb}m",
            _PARAMETER_SERVERS: str(self.parameter_servers),
        }
        if self.executor_gpus:
            conf |= {_EXECUTOR_GPUS: str(self.executor_gpus), _TASK_GPUS: str(self.executor_gpus)}
        return conf

    @classmethod
    def from_spark(
        cls, spark: SparkSession | SparkContext, *, environ: Mapping[str, str] = os.environ
    ) -> Self:
        """Reads the settings of a running session, or of its context, back.

        A ``local[n]`` master has no executors: what it runs at once are its n threads. That of a
        ``local-cluster[n,cores,memory]`` says how many there are. Where the session does not say how many
        parameter servers it has, the environment variable ``NUM_TF_PS`` does.

        Raises:
            InvalidSessionSetting: The session says nothing usable.
        """
        context = spark.sparkContext if hasattr(spark, "sparkContext") else spark
        conf = dict(context.getConf().getAll())
        executors = _executors(conf)
        if executors is None and _is_threads(context.master or ""):
            executors = context.defaultParallelism
        if executors is None and (cluster := _LOCAL_CLUSTER.fullmatch(context.master or "")):
            executors = int(cluster["executors"])
        if executors is None:
            raise InvalidSessionSetting(
                _INSTANCES, "not set", "start the session with the number of its executors"
            )
        servers = _number(_PARAMETER_SERVERS, conf.get(_PARAMETER_SERVERS, environ.get("NUM_TF_PS", "0")))
        if servers >= executors:
            remedy = f"leave at least one of the {executors} executors to training"
            raise InvalidSessionSetting(_PARAMETER_SERVERS, str(servers), remedy)
        return cls(
            max_parallel=executors - servers,
            executor_memory_mb=memory_in_mb(_MEMORY, conf.get(_MEMORY, "1g")),
            executor_gpus=_number(_EXECUTOR_GPUS, conf.get(_EXECUTOR_GPUS, "0")),
            parameter_servers=servers,
        )


def _executors(conf: Mapping[str, str]) -> int | None:
    dynamic = conf.get("spark.dynamicAllocation.enabled", "false") == "true"
    for key in (_MAX_EXECUTORS, _INSTANCES) if dynamic else (_INSTANCES, _MAX_EXECUTORS):
        if key in conf:
            return _number(key, conf[key])
    return None


def _is_threads(master: str) -> bool:
    return master == "local" or master.startswith("local[")


def _number(key: str, text: str) -> int:
    if not text.isdecimal():
        raise InvalidSessionSetting(key, repr(text), "give a whole number of at least 0")
    return int(text)
