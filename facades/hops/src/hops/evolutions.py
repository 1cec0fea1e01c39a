"""Differential evolution, as `hops.experiment` offers it under two names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hops.calls import takes_spark
from hops.eras import Era, Returned, era_of, of_study
from hops.label import NO_NAME, Label
from hops.launches import between
from hops.names import takes_names
from hops.resources import versioned
from hops.returned_files import keeping
from hops.searches import check_some_ended, search_options
from hops.summary import METRIC, tell_results
from hopyard.store import Project
from hopyard.tracking import RunId, run_paths

if TYPE_CHECKING:
    from hopyard.search.study.study import Study

MUTATION = 0.5
STRATEGY = "rand1bin"
CROSSOVER = 0.7


@dataclass(frozen=True, slots=True, kw_only=True)
class HowMany:
    """How large an evolution is if nobody says so."""

    generations: int
    population: int


UNTIL_1_0 = HowMany(generations=10, population=10)
SINCE_1_1 = HowMany(generations=4, population=6)


@takes_spark
@takes_names(
    map_fun="objective_function",
    train_fn="objective_function",
    search_dict="boundary_dict",
    maxiter="generations",
    popsize="population",
    mutationfactor="mutation",
    cleanup="cleanup_generations",
)
def differential_evolution(
    objective_function: Callable[..., Any],
    boundary_dict: Mapping[str, Iterable[Any]],
    direction: str = "max",
    generations: int | None = None,
    population: int | None = None,
    mutation: float = MUTATION,
    crossover: float = CROSSOVER,
    cleanup_generations: bool = False,
    name: str = NO_NAME,
    local_logdir: bool = False,
    versioned_resources: object = None,
    description: str | None = None,
    optimization_key: str | None = None,
    *,
    spark: Any = None,
    names: frozenset[str] = frozenset(),
    usual: Era = Era.BEST,
) -> Returned:
    """Evolves the parameters of a function, generation by generation; returns folder and best parameters.

    The trials of each generation are in ``generation.<g>``, of which the first population is number 0.

    Args:
        objective_function: The training function, which returns a number or a dict with one.
        boundary_dict: A lower and an upper bound for each of its arguments, in either order, or texts to choose from.
        direction: As in `grid_search`, and so are those after ``cleanup_generations``.
        generations: How many generations follow the first population; 10, or 4 in calls of release 1.1 and later.
        population: How many trials each has; 10, or 6 in calls of release 1.1 and later.
        mutation: Factor of the differences.
        crossover: Probability of a parameter to be changed.
        cleanup_generations: Whether the folders of all generations are removed but the last and that of the best trial.
        name: A name for the search.
        local_logdir: Without effect.
        versioned_resources: Files of the project that are copied into the run's folder.
        description: Free text that is kept with the search.
        optimization_key: What is compared, if the function returns a dict.
        spark: The session; the active one if not given.
        names: What the arguments were called; given by the decorator.
        usual: The release that a call is of which does not tell.

    Raises:
        NodeFailed: The function failed in all trials.
        StudyFailed: The same, and that was clear after the first few.
    """
    from hopyard.search.api import differential_evolution as search

    if not isinstance(cleanup_generations, bool):
        raise TypeError(
            f"cleanup_generations is True or False, not {cleanup_generations!r}; give name= by its name"
        )
    era = era_of(names, direction, usual=usual)
    label = Label.of(name, versioned_resources, description)
    key = optimization_key or label.key or METRIC
    many = SINCE_1_1 if era is Era.TUPLES else UNTIL_1_0
    with versioned(label.resources) as resources:
        study = search(
            keeping(objective_function, era),
            between(boundary_dict),
            generations=many.generations if generations is None else generations,
            population=many.population if population is None else population,
            mutation=mutation,
            strategy=STRATEGY,
            crossover=crossover,
            synchronous=True,
            **search_options(label, direction, key, spark),
        )
        resources.copy_to(study.logdir)
    tell_results(check_some_ended(study), "differential evolution", direction)
    if cleanup_generations:
        remove_generations(study)
    return of_study(study, era, key=key, evolves=True)


@takes_spark
def evolutionary_search(*args: Any, spark: Any = None, **kwargs: Any) -> Returned:
    """Evolves the parameters of a function: the first name of `differential_evolution`, with the same arguments.

    With the Spark session in front it returns the folder alone, as it did until 2.6.2; without the session, or with
    ``population=``, it returns folder and best parameters.
    """
    is_early = spark is not None and "population" not in kwargs
    return differential_evolution(*args, spark=spark, usual=Era.FOLDER if is_early else Era.BEST, **kwargs)


def remove_generations(study: Study) -> None:
    """Removes the folders of all generations but the last one and that of the best trial."""
    project = Project.open()
    folder = run_paths(project, RunId.parse(study.run_id)).folder
    generations = [trial.folder.partition("/")[0] for trial in study.trials]
    best = [trial.folder.partition("/")[0] for trial in study.best_trials]
    for generation in set(generations) - {generations[-1], *best[:1]}:
        project.remove(f"{folder}/{generation}", recursive=True)
