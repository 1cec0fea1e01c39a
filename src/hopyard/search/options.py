"""What a search can be asked to be, and the checked values that come of it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict, cast

from hopyard.control.queue import StudyRules
from hopyard.errors import InvalidDevices, InvalidSearch
from hopyard.run.shared_options import first_wrong
from hopyard.search.trial.result import DEFAULT_METRIC
from hopyard.tracking import Direction
from hopyard.worker.gpus.request import DeviceRequest

if TYPE_CHECKING:
    from optuna.pruners import BasePruner
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    from hopyard.search.study.names import Resume
    from hopyard.store import Project

LEAST_SECONDS = 0.1
LEAST_LEASE_SECONDS = 1.0
_LOSS = re.compile(r"loss|error|perplexity|(^|_)r?m[sa]e(_|$)", re.IGNORECASE)
DIRECTION_REMEDY = "Give direction='min', or 'max' if large values are better"
LARGEST_SEED = 2**32 - 1  # of numpy's generators, which the samplers use


class SearchOptions(TypedDict, total=False):
    """The keyword arguments that all searches share, all of them optional; `hopyard.search` says what they mean."""

    metric: str | Sequence[str] | None
    direction: str | Sequence[str] | None
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
    resume: Resume
    tensorboard: bool
    tls: bool | None
    progress: bool | None
    spark: SparkSession | SparkContext | None
    backend: str | None
    project: Project | None
    kind: str


def shared_options(arguments: Mapping[str, Any]) -> SearchOptions:
    """Returns those arguments of a call that all searches share."""
    return cast("SearchOptions", {name: arguments[name] for name in SearchOptions.__optional_keys__})


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSpec:
    """How a search is to be run, checked.

    Attributes:
        objectives: The names of what is compared.
        directions: Which values of each are better.
        is_assumed: Whether nobody said what counts, so that it is whatever is returned, and large values are better.
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
    is_assumed: bool = False
    rules: StudyRules
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
            InvalidSearch: Values do not fit together, or are out of their range.
            InvalidDevices: The GPUs asked for make no sense.
        """
        if wrong := first_wrong(options):
            raise InvalidSearch(f"{wrong.given} is not valid", _sentence(wrong.remedy))
        _check_seed(options.get("seed"))
        _switch(options, "tensorboard")
        objectives, directions = _objectives(options)
        usual = StudyRules()
        rules = StudyRules(
            trials=None if trials is None else _whole("trials", trials, least=1),
            seconds=_seconds(options, "timeout"),
            retries=_whole("retries", options.get("retries", usual.retries), least=0),
            same_failures=_whole("same_failures", options.get("same_failures", usual.same_failures), least=1),
            lease=_seconds(options, "lease_seconds", least=LEAST_LEASE_SECONDS) or usual.lease,
        )
        parallel = options.get("parallel")
        nodes, ps, evaluator = _team(options)
        return cls(
            objectives=objectives,
            directions=directions,
            is_assumed=options.get("metric") is None and options.get("direction") is None,
            rules=rules,
            parallel=None if parallel is None else _whole("parallel", parallel, least=1),
            trial_seconds=_seconds(options, "trial_timeout"),
            isolate=_switch(options, "isolate"),
            devices=DeviceRequest(gpus=_gpus(options), fraction=options.get("gpu_fraction")),
            nodes=nodes,
            ps=ps,
            evaluator=evaluator,
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
    raise InvalidSearch(f"direction={value!r} is not valid", "Give 'max' or 'min'")


def _objectives(options: SearchOptions) -> tuple[tuple[str, ...], tuple[Direction, ...]]:
    metric, given = options.get("metric"), options.get("direction")
    if not _is_metric(metric):
        raise InvalidSearch(
            f"metric={metric!r} is not valid", "Give a name, such as 'accuracy', or a list of names"
        )
    names = (metric or DEFAULT_METRIC,) if metric is None or isinstance(metric, str) else tuple(metric)
    direction = _usual_direction(names) if given is None else given
    is_one = isinstance(direction, str) or not isinstance(direction, Sequence)
    directions = (direction,) * len(names) if is_one else tuple(direction)
    if not names or len(set(names)) < len(names):
        raise InvalidSearch(f"metric={metric!r} is not valid", "Give one name, or several that differ")
    if len(names) != len(directions):
        raise InvalidSearch(
            f"there are {len(names)} metrics and {len(directions)} directions",
            "Give a direction for each metric",
        )
    return names, tuple(map(direction_of, directions))


def _usual_direction(names: Sequence[str]) -> str:
    """Returns the direction of a search that was given none.

    Raises:
        InvalidSearch: A metric is one of which small values are better, as a rule.
    """
    for name in names:
        if is_loss(name):
            raise InvalidSearch(f"metric={name!r} has no direction", DIRECTION_REMEDY)
    return "max"


def is_loss(name: str) -> bool:
    """Whether small values are better of what has this name, as a rule."""
    return _LOSS.search(name) is not None


def _is_metric(metric: object) -> bool:
    if isinstance(metric, Sequence):
        return all(isinstance(name, str) for name in metric)
    return metric is None


def _team(options: SearchOptions) -> tuple[int, int, bool]:
    """Returns how many nodes a trial has, how many of them are parameter servers, and whether one evaluates."""
    nodes = _whole("nodes_per_trial", options.get("nodes_per_trial", 1), least=1)
    ps = _whole("ps", options.get("ps", 0), least=0)
    evaluator = _switch(options, "evaluator")
    if nodes - ps - evaluator < 1:
        given = f"nodes_per_trial={nodes}, ps={ps}, evaluator={evaluator}"
        raise InvalidSearch(
            f"{given} leaves no node to train", "Raise nodes_per_trial, which counts all of them"
        )
    return nodes, ps, evaluator


def _gpus(options: SearchOptions) -> int | None:
    gpus = options.get("gpus_per_trial")
    if gpus is not None and (type(gpus) is not int or gpus < 0):
        raise InvalidDevices(repr(gpus), "gpus_per_trial", "give a whole number of at least 0, or None")
    return gpus


def _check_seed(seed: object) -> None:
    if seed is not None and (type(seed) is not int or not 0 <= seed <= LARGEST_SEED):
        raise InvalidSearch(f"seed={seed!r} is not valid", f"Give a whole number from 0 to {LARGEST_SEED}")


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]


def _whole(name: str, value: object, *, least: int) -> int:
    if type(value) is not int or value < least:
        raise InvalidSearch(f"{name}={value!r} is not valid", f"Give a whole number of at least {least}")
    return value


def _seconds(options: SearchOptions, name: str, *, least: float = LEAST_SECONDS) -> float | None:
    value: Any = options.get(name)
    if value is None:
        return None
    if type(value) not in (int, float) or not least <= value < math.inf:
        raise InvalidSearch(f"{name}={value!r} is not valid", f"Give a number of seconds, at least {least:g}")
    return float(value)


def _switch(options: SearchOptions, name: str) -> bool:
    value = options.get(name, False)
    if not isinstance(value, bool):
        raise InvalidSearch(f"{name}={value!r} is not valid", "Give True or False")
    return value
