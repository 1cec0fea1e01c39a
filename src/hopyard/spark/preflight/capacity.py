"""What a Spark application has, in numbers: its settings, and the executors that have arrived.

Everything that asks Spark is in the functions at the end; the rest is arithmetic on values.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from pyspark import SparkContext

_CLUSTER_DEFAULT_EXECUTORS = "2"  # of Spark on YARN and on Kubernetes
_KEYS = (
    "spark.master",
    "spark.cores.max",
    "spark.dynamicAllocation.enabled",
    "spark.dynamicAllocation.maxExecutors",
    "spark.dynamicAllocation.minExecutors",
    "spark.executor.cores",
    "spark.executor.instances",
    "spark.executor.resource.gpu.amount",
    "spark.speculation",
    "spark.task.cpus",
    "spark.task.resource.gpu.amount",
)
_UNLIMITED = 2**31 - 1  # what Spark takes for "no limit" of executors
_LOCAL = re.compile(r"local(?:\[\s*(\d+|\*)\s*(?:,\s*\d+\s*)?\])?")
_LOCAL_CLUSTER = re.compile(r"local-cluster\[\s*(\d+)\s*,\s*(\d+)\s*,\s*\d+\s*\]")


class Master(Enum):
    """Who gives an application its executors."""

    LOCAL = "local"  # nobody: tasks are threads of the driver's JVM
    LOCAL_CLUSTER = "local-cluster"
    STANDALONE = "standalone"
    MANAGED = "managed"  # YARN, Kubernetes: as many as the application asks for
    OTHER = "other"

    @classmethod
    def of(cls, url: str) -> Self:
        """Returns who is behind a master URL."""
        if url == "yarn" or url.startswith("k8s://"):
            return cls("managed")
        if url.startswith("spark://"):
            return cls("standalone")
        if _LOCAL.fullmatch(url):
            return cls("local")
        return cls("local-cluster" if _LOCAL_CLUSTER.fullmatch(url) else "other")


@dataclass(frozen=True, slots=True, kw_only=True)
class Executors:
    """Some executors that are alike.

    Attributes:
        count: How many there are.
        cores: Cores of each.
        gpus: GPUs of each, as far as Spark hands them out.
    """

    count: int
    cores: int
    gpus: int = 0

    def slots(self, cpus: Decimal, gpus: float) -> int:
        """Returns how many tasks run at once if each takes that many cores and GPUs."""
        each = int(self.cores // cpus)
        if gpus > 1:
            each = min(each, self.gpus // math.ceil(gpus))
        elif gpus > 0:
            each = min(each, self.gpus * math.floor(1 / gpus))  # no task has parts of two GPUs
        return self.count * each

    def __str__(self) -> str:
        text = f"{_counted(self.count, 'executor')} x {_counted(self.cores, 'core')}"
        return text + (f" and {_counted(self.gpus, 'GPU')}" if self.gpus else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkSettings:
    """The settings of an application that decide how many tasks it can run at once.

    None stands for what is not set and has no default that the driver knows.

    Attributes:
        master: Its master URL.
        threads: Cores of the driver's JVM, which a master ``local[n]`` runs tasks on.
        instances: How many executors it asks for, if their number is fixed.
        executor_cores: Cores of an executor.
        executor_gpus: GPUs of an executor.
        task_cpus: Cores that a task takes.
        task_gpus: GPUs that a task takes, unless its stage says otherwise.
        cores_max: Most cores in all; counts on standalone masters only.
        dynamic: Whether Spark starts and ends executors as tasks come and go.
        max_executors: Most executors if `dynamic`.
        min_executors: Fewest executors if `dynamic`.
        speculation: Whether Spark starts slow tasks a second time; it never does in barrier stages.
    """

    master: str
    threads: int = 1
    instances: int | None = None
    executor_cores: int | None = None
    executor_gpus: int = 0
    task_cpus: Decimal = Decimal(1)
    task_gpus: float = 0
    cores_max: int | None = None
    dynamic: bool = False
    max_executors: int | None = None
    min_executors: int = 0
    speculation: bool = False

    @classmethod
    def of(cls, conf: Mapping[str, str], *, processors: int = 1) -> Self:
        """Returns the settings in a Spark configuration.

        Args:
            conf: All that is set; a running application has a master.
            processors: What a master ``local[*]`` stands for.
        """
        master = conf["spark.master"]
        managed = Master.of(master) is Master.MANAGED
        local = _LOCAL.fullmatch(master)
        threads = (local[1] or "1") if local else "1"
        most = _whole(conf.get("spark.dynamicAllocation.maxExecutors"))
        return cls(
            master=master,
            threads=processors if threads == "*" else int(threads),
            instances=_whole(
                conf.get("spark.executor.instances", _CLUSTER_DEFAULT_EXECUTORS if managed else None)
            ),
            executor_cores=_whole(conf.get("spark.executor.cores", "1" if managed else None)),
            # Local threads get no GPUs, whatever is set.
            executor_gpus=0 if local else int(conf.get("spark.executor.resource.gpu.amount", "0")),
            task_cpus=Decimal(conf.get("spark.task.cpus", "1")),
            task_gpus=float(conf.get("spark.task.resource.gpu.amount", "0")),
            cores_max=_whole(conf.get("spark.cores.max")),
            dynamic=_is_true(conf.get("spark.dynamicAllocation.enabled")) and not local,
            max_executors=None if most == _UNLIMITED else most,
            min_executors=int(conf.get("spark.dynamicAllocation.minExecutors", "0")),
            speculation=_is_true(conf.get("spark.speculation")),
        )

    @property
    def kind(self) -> Master:
        """Who gives the application its executors."""
        return Master.of(self.master)

    @property
    def may_shrink(self) -> bool:
        """Whether Spark may end executors that have nothing to do."""
        return self.dynamic and (self.max_executors is None or self.min_executors < self.max_executors)

    @property
    def workers(self) -> tuple[int, int]:
        """Number and cores of the workers of an embedded cluster, ``local-cluster[number,cores,memory]``."""
        parts = _LOCAL_CLUSTER.fullmatch(self.master)
        return (int(parts[1]), int(parts[2])) if parts else (0, 0)

    def gpus_of_task(self, gpus: float | None) -> float:
        """Returns how many GPUs Spark will take for a node's task.

        Args:
            gpus: What the node asks for; None for whatever the session gives each task.

        Raises:
            ValueError: It is no share of a GPU and no whole number of them.
        """
        if gpus is not None and (gpus < 0 or (gpus > 1 and gpus != int(gpus))):
            raise ValueError(f"{gpus:g} GPUs per node: give a whole number, or a share of one such as 0.5.")
        if gpus is None or self.executor_gpus == 0:
            return self.task_gpus
        # Full profiles, which dynamic allocation takes, know no shares between a half and all of a GPU.
        return 1.0 if self.dynamic and 0.5 < gpus < 1 else float(gpus)


def slots(executors: Iterable[Executors], cpus: Decimal, gpus: float) -> int:
    """Returns how many tasks all executors together run at once."""
    return sum(each.slots(cpus, gpus) for each in executors)


def settings_of(context: SparkContext) -> SparkSettings:
    """Returns the settings of a running application."""
    # not getConf().getAll(), which takes two calls of the JVM for each of a hundred settings, and copies them first
    found = {key: context._conf.get(key) for key in _KEYS}  # noqa: SLF001
    conf = {key: value for key, value in found.items() if value is not None}
    processors = 1
    if "*" in conf["spark.master"]:
        java: Any = context._jvm  # noqa: SLF001 (pyspark's door to the JVM)
        processors = java.java.lang.Runtime.getRuntime().availableProcessors()
    return SparkSettings.of(conf, processors=processors)


def arrived(context: SparkContext) -> tuple[Executors, ...]:
    """Returns the executors that have registered with the driver and are alive."""
    found = Counter((each.totalCores(), _gpus(each)) for each in _executors(context))
    return tuple(
        Executors(count=count, cores=cores, gpus=gpus) for (cores, gpus), count in sorted(found.items())
    )


def tasks_of_others(context: SparkContext, group: str) -> int:
    """Returns how many tasks run that are not of a job group; those of jobs that are ending do not count."""
    # Not what Spark's pages show, which is up to ten seconds old: of tasks that start together they know the first.
    every = _task_sets(context._jsc.sc().taskScheduler().rootPool())  # noqa: SLF001
    return sum(each.runningTasks() for each in every if not each.isZombie() and _group(each) != group)


def _executors(context: SparkContext) -> list[Any]:
    # The scheduler itself tells only how many tasks of one profile fit; what Spark's pages show has the
    # cores and GPUs of each executor.
    known = context._jsc.sc().statusStore().executorList(True)  # noqa: SLF001
    every = [known.apply(index) for index in range(known.size())]
    return [each for each in every if each.totalCores() > 0]  # the driver is listed too, without cores


def _task_sets(pool: Any) -> Iterator[Any]:
    for each in pool.schedulableQueue().toArray():
        # with spark.scheduler.mode=FAIR there are pools in the pool; a set of tasks has no queue
        yield from (each,) if each.schedulableQueue() is None else _task_sets(each)


def _group(task_set: Any) -> str | None:
    properties = task_set.taskSet().properties()  # None where nobody has set any
    group = None if properties is None else properties.getProperty("spark.jobGroup.id")
    return None if group is None else str(group)


def _gpus(executor: Any) -> int:
    found = executor.resources().get("gpu")
    return len(found.get().addresses()) if found.isDefined() else 0


def _whole(text: str | None) -> int | None:
    return None if text is None else int(text)


def _is_true(text: str | None) -> bool:
    return text is not None and text.lower() == "true"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
