"""The words in which a plan is refused: what it needs, what there is, which settings to change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hopyard.errors import NotEnoughSlots
from hopyard.spark.preflight.capacity import Executors, Master, SparkSettings
from hopyard.spark.preflight.demand import Needs, Shortage
from hopyard.spark.preflight.forecast import Forecast


def too_few_allowed(needs: Needs, lacking: Shortage, coming: Forecast) -> NotEnoughSlots:
    """Returns the error for a plan that the settings leave no room for."""
    settings = needs.settings
    spark = listed(coming.most or ())
    if settings.kind is Master.LOCAL:
        spark = f"master {settings.master}"
    elif settings.kind is Master.STANDALONE and settings.executor_cores is None:
        spark = f"spark.cores.max={settings.cores_max}"
    return _refusal(needs, lacking, spark, list(_remedies(settings, lacking)))


def too_few_came(
    needs: Needs, lacking: Shortage, executors: Sequence[Executors], seconds: float, setting: str
) -> NotEnoughSlots:
    """Returns the error for a plan whose executors did not come in time.

    Args:
        needs: What the plan asks for.
        lacking: What of it is missing.
        executors: Those that came.
        seconds: The time that they had.
        setting: What the caller can raise to wait longer; empty if nothing.
    """
    settings = needs.settings
    remedies = [*_gpu_remedies(settings, lacking), *_whom_to_ask(settings), *_cpu_remedies(settings)]
    if setting:
        remedies.append(f"raise {setting} (now {seconds:g} s)")
    return _refusal(needs, lacking, f"{listed(executors)} came within {seconds:g} s", remedies)


def listed(executors: Sequence[Executors]) -> str:
    """Returns executors as text, such as ``2 executors x 1 core``."""
    return " + ".join(map(str, executors)) or "no executors"


def _refusal(needs: Needs, lacking: Shortage, spark: str, remedies: Sequence[str]) -> NotEnoughSlots:
    return NotEnoughSlots(
        lacking.needed,
        _slots(needs, lacking),
        lacking.found,
        f"{spark}, spark.task.cpus={needs.settings.task_cpus}",
        ", or ".join(remedies),
    )


def _slots(needs: Needs, lacking: Shortage) -> str:
    noun = "slot" if lacking.needed == 1 else "slots"
    if lacking.gpus:
        return f"{noun} with {_gpus(lacking.gpus)}" + (" each" if lacking.needed > 1 else "")
    with_gpus = [f"{count} with {_gpus(gpus)}" for gpus, count in needs.nodes if gpus and count]
    return noun + (f" ({', '.join(with_gpus)})" if with_gpus else "")


def _remedies(settings: SparkSettings, lacking: Shortage) -> Iterator[str]:
    if lacking.gpus and settings.kind is Master.LOCAL:
        yield (
            "remove spark.task.resource.gpu.amount: Spark has no GPUs for tasks of a local master and would "
            "never start them, while nodes find the GPUs of this machine without it"
        )
        return
    yield from _gpu_remedies(settings, lacking)
    yield from _more_executors(settings)
    yield from _cpu_remedies(settings)


def _gpu_remedies(settings: SparkSettings, lacking: Shortage) -> Iterator[str]:
    if lacking.gpus:
        yield (
            "give each a smaller part of a GPU (gpus_per_node, gpu_fraction), or raise "
            f"spark.executor.resource.gpu.amount (now {settings.executor_gpus})"
        )


def _cpu_remedies(settings: SparkSettings) -> Iterator[str]:
    if settings.task_cpus > 1:
        yield f"lower spark.task.cpus (now {settings.task_cpus})"


def _whom_to_ask(settings: SparkSettings) -> Iterator[str]:
    """Yields what to do where the settings allow enough executors, and they have not come."""
    if settings.kind is Master.LOCAL_CLUSTER:
        yield "see in Spark's log why its executors do not start"
        return
    if settings.kind is not Master.MANAGED:
        yield "start more workers"
    yield "free the cores and memory that other applications hold"
    yield "lower spark.executor.memory or spark.executor.cores if no worker has that much"


def _more_executors(settings: SparkSettings) -> Iterator[str]:
    if settings.kind is Master.LOCAL:
        yield "take a master with more threads, local[n]"
    elif settings.kind is Master.LOCAL_CLUSTER:
        yield "start Spark with more: hopyard.local_spark(executors=..., cores=...)"
    if settings.kind is Master.MANAGED and not settings.dynamic:
        yield f"raise spark.executor.instances (now {settings.instances})"
    if settings.dynamic and settings.max_executors is not None:
        yield f"raise spark.dynamicAllocation.maxExecutors (now {settings.max_executors})"
    if settings.cores_max is not None and _limits_cores(settings, settings.cores_max):
        yield f"raise spark.cores.max (now {settings.cores_max})"
    if settings.kind is Master.MANAGED:
        yield f"raise spark.executor.cores (now {settings.executor_cores})"


def _limits_cores(settings: SparkSettings, cores_max: int) -> bool:
    """Tells whether ``spark.cores.max`` keeps the application from cores that there would be."""
    workers, cores = settings.workers
    return settings.kind is Master.STANDALONE or cores_max < workers * cores


def _gpus(number: float) -> str:
    return f"{number:g} GPU{'' if number <= 1 else 's'}"
