"""What executors an application will have, as far as its settings tell."""

from __future__ import annotations

from dataclasses import dataclass

from hopyard.spark.preflight.capacity import Executors, Master, SparkSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """The executors that will come.

    Attributes:
        most: What there can be at the most; None if the settings draw no line.
        promised: Whether Spark goes on asking until there are that many. Otherwise it depends on what a
            cluster has left, of which the driver knows nothing.
        shared: Whether tasks of all resource profiles run on the same executors.
    """

    most: tuple[Executors, ...] | None
    promised: bool
    shared: bool = True


def forecast(settings: SparkSettings) -> Forecast:
    """Returns what the settings of an application say about its executors."""
    # With dynamic allocation executors come once there are tasks to run, each resource profile has its own,
    # and the limit holds for each profile.
    dynamic = settings.dynamic
    match settings.kind:
        case Master.LOCAL:
            return Forecast(most=(Executors(count=1, cores=settings.threads),), promised=True)
        case Master.LOCAL_CLUSTER:
            return Forecast(most=_embedded(settings), promised=True, shared=not dynamic)
        case Master.MANAGED:
            return Forecast(most=_managed(settings), promised=True, shared=not dynamic)
        case Master.STANDALONE:
            return Forecast(most=_standalone(settings), promised=dynamic, shared=not dynamic)
        case Master.OTHER:
            return Forecast(most=None, promised=dynamic, shared=not dynamic)


def _managed(settings: SparkSettings) -> tuple[Executors, ...] | None:
    count = settings.max_executors if settings.dynamic else settings.instances
    if count is None or settings.executor_cores is None:
        return None
    return (Executors(count=count, cores=settings.executor_cores, gpus=settings.executor_gpus),)


def _standalone(settings: SparkSettings) -> tuple[Executors, ...] | None:
    """Returns what ``spark.cores.max`` allows; a standalone master ignores ``spark.executor.instances``."""
    cores, most = settings.executor_cores, settings.cores_max
    if cores is not None:
        known = _known(_limit(settings), None if most is None else most // cores)
        return (Executors(count=min(known), cores=cores, gpus=settings.executor_gpus),) if known else None
    if most is None:
        return None
    # An executor takes what its worker has: known is only the sum of cores, and that each has at least one.
    return (Executors(count=1, cores=most, gpus=most * settings.executor_gpus),)


def _embedded(settings: SparkSettings) -> tuple[Executors, ...]:
    (workers, cores), each, gpus = settings.workers, settings.executor_cores, settings.executor_gpus
    in_all = min(_known(workers * cores, settings.cores_max))
    if each is not None:
        count = min(_known(workers * (cores // each), in_all // each, _limit(settings)))
        return (Executors(count=count, cores=each, gpus=gpus),)
    # One executor per worker, and the master deals the cores out one by one.
    count = min(_known(workers, _limit(settings)))
    fewer, more = divmod(min(in_all, count * cores), count)
    dealt = (
        Executors(count=more, cores=fewer + 1, gpus=gpus),
        Executors(count=count - more, cores=fewer, gpus=gpus),
    )
    return tuple(group for group in dealt if group.count and group.cores)


def _limit(settings: SparkSettings) -> int | None:
    return settings.max_executors if settings.dynamic else None


def _known(*limits: int | None) -> list[int]:
    return [limit for limit in limits if limit is not None]
