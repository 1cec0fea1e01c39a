"""Samplers by name: what chooses the parameters of the next trial."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from optuna.distributions import CategoricalDistribution
from optuna.exceptions import ExperimentalWarning
from optuna.samplers import (
    BaseSampler,
    CmaEsSampler,
    GPSampler,
    NSGAIISampler,
    QMCSampler,
    RandomSampler,
    TPESampler,
)

from hopyard.errors import InvalidSearch, MissingDependency
from hopyard.search.samplers.evolution_sampler import DifferentialEvolutionSampler
from hopyard.search.samplers.fixed_rows import RowsSampler
from hopyard.search.samplers.suggestion import did_you_mean
from hopyard.search.space.space import SearchSpace, Space

if TYPE_CHECKING:
    from hopyard.tracking import Direction

DEFAULT = "tpe"
ALIASES = {"differential_evolution": "de"}
MEANINGS = {
    "tpe gp": "bayes bayesian bayesian_optimization bayes_opt bayesopt bo smbo",
    "tpe": "hyperopt optuna default",
    "gp": "gaussian gaussian_process gaussian_processes botorch",
    "cmaes": "cma cma_es evolution_strategy",
    "qmc": "sobol halton quasi_monte_carlo",
    "nsga2": "nsga nsgaii nsga_ii genetic ga pareto",
    "de": "evolution evolutionary",
    "grid": "exhaustive brute_force",
    "random": "uniform",
}
EVOLUTION_OPTIONS = ("population", "generations", "mutation", "crossover", "strategy", "synchronous")


def sampler_for(
    sampler: str | BaseSampler | None,
    space: SearchSpace,
    *,
    seed: int | None = None,
    parallel: int = 1,
    directions: Sequence[Direction],
    is_pruned: bool = False,
    **options: Any,
) -> BaseSampler:
    """Returns a sampler for a space.

    | name | what it does |
    |---|---|
    | ``tpe`` | The default. Learns from all trials, also with choices, branches and several objectives. |
    | ``random`` | Points chosen at random. |
    | ``grid`` | Each combination once; for lists and ranges with a step. In order, but shuffled if there is a pruner. |
    | ``gp`` | A Gaussian process: for few, costly trials. Parameters of branches are chosen at random. |
    | ``cmaes`` | CMA-ES: for many trials with numbers. Choices and parameters of branches are left to TPE. |
    | ``qmc`` | Sobol points: at random, but evenly spread. Parameters of branches are chosen at random. |
    | ``nsga2`` | A genetic algorithm for several objectives. Parameters of branches are chosen at random. |
    | ``de`` or ``differential_evolution`` | `DifferentialEvolutionSampler`: for any parameters and one objective. |

    Args:
        sampler: A name, None for the default, or a sampler, which is returned as it is.
        space: The parameters.
        seed: Makes the choices repeatable.
        parallel: How many trials run at a time.
        directions: Of the objectives, one for each.
        is_pruned: Whether trials are ended early that are worse than those before them.
        options: Settings of the sampler: those of `DifferentialEvolutionSampler` for ``de``, ``population`` for
            ``nsga2`` and ``cmaes``; the others have none.

    Raises:
        InvalidSearch: There is no such sampler, it has no such option, or it does not suit the space or the objectives.
        MissingDependency: The sampler needs a package that is not installed.
    """
    if isinstance(sampler, BaseSampler):
        _check_options(type(sampler).__name__, options, ())
        return sampler
    name = ALIASES.get(sampler or DEFAULT, sampler or DEFAULT)
    kind = _kinds().get(name)
    if kind is None:
        raise InvalidSearch(f"there is no sampler {sampler!r}", _remedy(str(sampler)))
    _check_options(name, options, kind.options)
    if len(directions) > 1 and not kind.takes_objectives:
        raise InvalidSearch(f"the sampler {name!r} takes one metric", "For several, use tpe, nsga2 or gp")
    for package, extra in kind.needs.items():
        if find_spec(package) is None:
            raise MissingDependency(package, f"the sampler {name!r}", extra)
    request = _Request(
        space=space,
        seed=seed,
        parallel=parallel,
        objectives=len(directions),
        is_pruned=is_pruned,
        options=options,
    )
    with warnings.catch_warnings():
        # Optuna calls some arguments experimental that it has had for years; the user cannot do anything about it.
        warnings.simplefilter("ignore", ExperimentalWarning)
        return kind.make(request)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    """What a sampler is made for."""

    space: SearchSpace
    seed: int | None
    parallel: int
    objectives: int
    is_pruned: bool
    options: dict[str, Any] = field(repr=False)

    @property
    def is_conditional(self) -> bool:
        return len(self.space.names) > len(self.space.always)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """A sampler that has a name."""

    make: Callable[[_Request], BaseSampler]
    options: Collection[str] = field(default=(), repr=False)
    needs: dict[str, str] = field(default_factory=dict)  # packages, and the extras that bring them
    takes_objectives: bool = True


def _kinds() -> dict[str, _Kind]:
    return {
        "tpe": _Kind(make=_tpe),
        "random": _Kind(make=_random),
        "grid": _Kind(make=_grid),
        "gp": _Kind(make=_gp, needs={"scipy": "search", "torch": "torch"}),
        "cmaes": _Kind(
            make=_cmaes, options=["population"], needs={"cmaes": "search"}, takes_objectives=False
        ),
        "qmc": _Kind(make=_qmc, needs={"scipy": "search"}),
        "nsga2": _Kind(make=_nsga2, options=["population"]),
        "de": _Kind(make=_evolution, options=EVOLUTION_OPTIONS, takes_objectives=False),
    }


def _tpe(request: _Request) -> BaseSampler:
    multivariate = request.objectives == 1 or request.is_conditional
    return TPESampler(
        seed=request.seed,
        multivariate=multivariate,
        group=request.is_conditional,
        constant_liar=request.parallel > 1,
    )


def _random(request: _Request) -> BaseSampler:
    return RandomSampler(seed=request.seed)


def _grid(request: _Request) -> BaseSampler:
    if not isinstance(request.space, Space):
        raise InvalidSearch(
            "the sampler 'grid' does not fit this space", "Leave sampler= out: the space has its own trials"
        )
    return RowsSampler(request.space.grid(), shuffled=request.is_pruned)


def _gp(request: _Request) -> BaseSampler:
    return GPSampler(seed=request.seed, warn_independent_sampling=False)


def _cmaes(request: _Request) -> BaseSampler:
    always = [request.space.distributions[name] for name in request.space.always]
    if all(where.single() or isinstance(where, CategoricalDistribution) for where in always):
        raise InvalidSearch("the sampler 'cmaes' needs a Range, and the space has none", "Use tpe")
    others = TPESampler(seed=request.seed, multivariate=False, constant_liar=request.parallel > 1)
    return CmaEsSampler(
        seed=request.seed,
        popsize=request.options.get("population"),
        independent_sampler=others,
        warn_independent_sampling=False,
    )


def _qmc(request: _Request) -> BaseSampler:
    return QMCSampler(
        seed=request.seed, scramble=True, warn_asynchronous_seeding=False, warn_independent_sampling=False
    )


def _nsga2(request: _Request) -> BaseSampler:
    return NSGAIISampler(seed=request.seed, population_size=request.options.get("population", 50))


def _evolution(request: _Request) -> BaseSampler:
    return DifferentialEvolutionSampler(request.space.distributions, seed=request.seed, **request.options)


def _check_options(name: str, options: Collection[str], known: Collection[str]) -> None:
    unknown = [option for option in options if option not in known]
    if unknown:
        has = f"It has {', '.join(known)}" if known else "It has no options"
        raise InvalidSearch(f"the sampler {name!r} has no option {unknown[0]!r}", has)


def _remedy(name: str) -> str:
    names = [*_kinds(), *ALIASES]
    return f"{did_you_mean(name, names, MEANINGS)}Use {', '.join(names)}, or a sampler object of Optuna"
