"""Searches for good parameters, as `hops.experiment` offers them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from hops.calls import takes_spark
from hops.eras import Returned, era_of, of_study
from hops.failures import raise_failed
from hops.label import NO_NAME, Label, has_tensorboard
from hops.launches import between, listed
from hops.names import takes_names
from hops.resources import versioned
from hops.returned_files import keeping
from hops.summary import METRIC, tell_results

if TYPE_CHECKING:
    from hopyard.search.options import SearchOptions
    from hopyard.search.study.study import Study


@takes_spark
@takes_names(train_fn="map_fun", grid_dict="args_dict")
def grid_search(
    map_fun: Callable[..., Any],
    args_dict: Mapping[str, Iterable[Any]],
    direction: str = "max",
    name: str = NO_NAME,
    local_logdir: bool = False,
    versioned_resources: object = None,
    description: str | None = None,
    optimization_key: str | None = None,
    *,
    spark: Any = None,
    names: frozenset[str] = frozenset(),
) -> Returned:
    """Runs a function with each combination of some values, in parallel; returns the folder of the search.

    Call it with or without the Spark session in front. What it returns beside the folder depends on the release that the
    call is of; see ``docs/migrating-from-hops.md``.

    Args:
        map_fun: The training function; if it returns a number, or a dict with one, the best trial is known.
        args_dict: A list of values for each of its arguments. The last one changes fastest.
        direction: Whether large values are better (``max``) or small ones (``min``).
        name: A name for the search.
        local_logdir: Without effect.
        versioned_resources: Files of the project that are copied into the run's folder.
        description: Free text that is kept with the search.
        optimization_key: What is compared, if the function returns a dict.
        spark: The session; the active one if not given.
        names: What the arguments were called; given by the decorator.

    Raises:
        NodeFailed: The function failed with all combinations.
        StudyFailed: The same, and that was clear after the first few.
    """
    from hopyard.search.api import grid_search as search

    era = era_of(names, direction)
    label = Label.of(name, versioned_resources, description)
    key = optimization_key or label.key or METRIC
    with versioned(label.resources) as resources:
        study = search(
            keeping(map_fun, era), listed(args_dict), **search_options(label, direction, key, spark)
        )
        resources.copy_to(study.logdir)
    tell_results(check_some_ended(study), "grid search", direction)
    return of_study(study, era, key=key)


@takes_spark
@takes_names(train_fn="map_fun")
def random_search(
    map_fun: Callable[..., Any],
    boundary_dict: Mapping[str, Iterable[Any]],
    direction: str = "max",
    samples: int = 10,
    name: str = NO_NAME,
    local_logdir: bool = False,
    versioned_resources: object = None,
    description: str | None = None,
    optimization_key: str | None = None,
    *,
    spark: Any = None,
    names: frozenset[str] = frozenset(),
) -> Returned:
    """Runs a function with parameters chosen at random between bounds; as `grid_search`.

    Args:
        map_fun: The training function, which returns a number or a dict with one.
        boundary_dict: A lower and an upper bound for each of its arguments, in either order.
        direction: As in `grid_search`, and so are those after ``samples``.
        samples: How many trials there are.
        name: A name for the search.
        local_logdir: Without effect.
        versioned_resources: Files of the project that are copied into the run's folder.
        description: Free text that is kept with the search.
        optimization_key: What is compared, if the function returns a dict.
        spark: The session; the active one if not given.
        names: What the arguments were called; given by the decorator.
    """
    from hopyard.search.api import random_search as search

    era = era_of(names, direction)
    label = Label.of(name, versioned_resources, description)
    key = optimization_key or label.key or METRIC
    options = search_options(label, direction, key, spark)
    with versioned(label.resources) as resources:
        study = search(keeping(map_fun, era), between(boundary_dict), trials=samples, **options)
        resources.copy_to(study.logdir)
    tell_results(check_some_ended(study), "random search", direction)
    return of_study(study, era, key=key)


def search_options(label: Label, direction: str, key: str, spark: Any) -> SearchOptions:
    """Returns what the functions of this library tell any search; names need not be unique in them."""
    from hopyard.search.study.names import fresh_name
    from hopyard.store import Project

    return {
        "direction": direction,
        "metric": key,
        "name": None if label.name is None else fresh_name(Project.open(), label.name),
        "description": label.description,
        "spark": spark,
        "tensorboard": has_tensorboard(),
    }


def check_some_ended(study: Study) -> Study:
    """Returns the study, if not all of its trials failed.

    Raises:
        NodeFailed: They did.
    """
    raise_failed(study, most=len(study.trials) - 1)
    return study
