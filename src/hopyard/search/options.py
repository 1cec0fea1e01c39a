"""What a search can be asked to be, and the checked values that come of it."""

from __future__ import annotations

import difflib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

from hopyard.cluster.devices import DeviceRequest
from hopyard.errors import BadArguments, InvalidSearch
from hopyard.search.desk import Rules
from hopyard.search.trial_result import DEFAULT_METRIC
from hopyard.tracking import Direction

if TYPE_CHECKING:
    from optuna.pruners import BasePruner
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    from hopyard.store import Project

LEAST_SECONDS = 0.1
LEAST_LEASE_SECONDS = 1.0


class SearchOptions(TypedDict, total=False):
    """The keyword arguments that all searches share, all of them optional.

    Attributes:
        metric: The name of what is compared, where the function returns a mapping; several names for several objectives.
        direction: ``"max"`` or ``"min"``; one for each of several metrics.
        parallel: How many trials run at the same time; as many as there are slots if not given.
        pruner: What stops hopeless trials: ``"median"``, ``"asha"``, ``"hyperband"``, ``"patience"``, or a pruner of Optuna.
        seed: Makes the choice of parameters repeatable.
        timeout: Seconds after which no trial begins any more.
        trial_timeout: Seconds after which a trial is ended and counts as failed.
        retries: How often a trial that failed is tried again.
        same_failures: If so many trials fail in the same way before any ends well, the search is given up; 3.
        isolate: Whether each trial gets a fresh process; otherwise a slot's trials share one, with what it has imported.
        nodes_per_trial: How many nodes each trial has; with more than one it is a distributed run of its own.
        ps: How many of them are parameter servers.
        evaluator: Whether one of them evaluates.
        gpus_per_trial: GPUs of each trial, or of each of its nodes that train.
        gpu_fraction: Share of one GPU for each.
        lease_seconds: Seconds without a word until a slot, or the driver, counts as lost; 30.
        name: A name for the study; that of the function if not given.
        description: Free text that is kept with the study.
        resume: Go on with the newest study of this name, if there is one: what has ended stays, what was under way
            runs again.
        tensorboard: Show the study in a TensorBoard while it goes on.
        progress: Whether a table of the trials is shown; by default on a terminal and in a notebook.
        spark: The session to run on; the active one if not given.
        backend: ``"spark"`` (the default) or ``"processes"`` (this machine, no Spark).
        project: Where the study is kept; `Project.open` with its defaults if not given.
        kind: The folder that groups runs of this kind.
    """

    metric: str | Sequence[str] | None
    direction: str | Sequence[str]
    parallel: int | None
    pruner: str | BasePruner | None
    seed: int | None
    timeout: float | None
    trial_timeout: float | None
    retries: int
    same_failures: int
    isolate: bool
    nodes_per_trial: int
    ps: int
    evaluator: bool
    gpus_per_trial: int | None
    gpu_fraction: float | None
    lease_seconds: float
    name: str | None
    description: str
    resume: bool
    tensorboard: bool
    progress: bool | None
    spark: SparkSession | SparkContext | None
    backend: str | None
    project: Project | None
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSpec:
    """How a search is to be run, checked.

    Attributes:
        objectives: The names of what is compared.
        directions: Which values of each are better.
        rules: How far the study goes.
        parallel: How many trials run at the same time; None for as many as there is room for.
        trial_seconds: How long a trial may take.
        isolate: Whether each trial gets a process of its own.
        devices: The GPUs of each trial.
        nodes: How many nodes each trial has.
        ps: How many of them are parameter servers.
        evaluator: Whether one of them evaluates.
    """

    objectives: tuple[str, ...]
    directions: tuple[Direction, ...]
    rules: Rules
    parallel: int | None = None
    trial_seconds: float | None = None
    isolate: bool = False
    devices: DeviceRequest
    nodes: int = 1
    ps: int = 0
    evaluator: bool = False

    @classmethod
    def of(cls, trials: int | None, options: SearchOptions) -> SearchSpec:
        """Returns the specification that a user's arguments make.

        Raises:
            BadArguments: There is no such option.
            InvalidSearch: Values do not fit together, or are out of their range.
            InvalidDevices: The GPUs asked for make no sense.
        """
        _check_names(options)
        objectives, directions = _objectives(options)
        usual = Rules()
        rules = Rules(
            trials=None if trials is None else _whole("trials", trials, least=1),
            seconds=_seconds(options, "timeout"),
            retries=_whole("retries", options.get("retries", usual.retries), least=0),
            same_failures=_whole("same_failures", options.get("same_failures", usual.same_failures), least=1),
            lease=_seconds(options, "lease_seconds", least=LEAST_LEASE_SECONDS) or usual.lease,
        )
        parallel = options.get("parallel")
        return cls(
            objectives=objectives,
            directions=directions,
            rules=rules,
            parallel=None if parallel is None else _whole("parallel", parallel, least=1),
            trial_seconds=_seconds(options, "trial_timeout"),
            isolate=_switch(options, "isolate"),
            devices=DeviceRequest(gpus=options.get("gpus_per_trial"), fraction=options.get("gpu_fraction")),
            nodes=_whole("nodes_per_trial", options.get("nodes_per_trial", 1), least=1),
            ps=_whole("ps", options.get("ps", 0), least=0),
            evaluator=_switch(options, "evaluator"),
        )


def direction_of(value: object) -> Direction:
    """Returns the direction that a word means: ``max`` or ``min``, in any case, or spelled out as Optuna does.

    Raises:
        InvalidSearch: It is neither.
    """
    text = str(getattr(value, "value", value)).lower()
    for direction, words in ((Direction.MAX, ("max", "maximize")), (Direction.MIN, ("min", "minimize"))):
        if text in words:
            return direction
    raise InvalidSearch(f"direction={value!r}", "give 'max' or 'min'")


def _objectives(options: SearchOptions) -> tuple[tuple[str, ...], tuple[Direction, ...]]:
    metric, direction = options.get("metric"), options.get("direction", "max")
    names = (metric or DEFAULT_METRIC,) if metric is None or isinstance(metric, str) else tuple(metric)
    is_one = isinstance(direction, str) or not isinstance(direction, Sequence)
    directions = (direction,) * len(names) if is_one else tuple(direction)
    if not names or len(set(names)) < len(names):
        raise InvalidSearch(f"metric={metric!r}", "give one name, or several that differ")
    if len(names) != len(directions):
        raise InvalidSearch(
            f"{len(names)} metrics and {len(directions)} directions", "give a direction for each metric"
        )
    return names, tuple(map(direction_of, directions))


def _check_names(options: SearchOptions) -> None:
    known = SearchOptions.__optional_keys__
    for name in options.keys() - known:
        alike = difflib.get_close_matches(name, known, n=1)
        hint = f"; it may mean {alike[0]!r}" if alike else ""
        raise BadArguments("SearchOptions", f"there is no option {name!r}{hint}")


def _whole(name: str, value: object, *, least: int) -> int:
    if type(value) is not int or value < least:
        raise InvalidSearch(f"{name}={value!r}", f"give a whole number of at least {least}")
    return value


def _seconds(options: SearchOptions, name: str, *, least: float = LEAST_SECONDS) -> float | None:
    value: Any = options.get(name)
    if value is None:
        return None
    if type(value) not in (int, float) or not least <= value < math.inf:
        raise InvalidSearch(f"{name}={value!r}", f"give a number of seconds, at least {least:g}")
    return float(value)


def _switch(options: SearchOptions, name: str) -> bool:
    value = options.get(name, False)
    if not isinstance(value, bool):
        raise InvalidSearch(f"{name}={value!r}", "give True or False")
    return value
