"""Searches: parallel trials of a function with different parameters."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from optuna.pruners import NopPruner

from hopyard.errors import BadArguments, InvalidSearch
from hopyard.search.ablation_space import Ablation
from hopyard.search.backends import slot_backend
from hopyard.search.cluster_slots import ClusterSlotBackend
from hopyard.search.earlier import await_its_driver
from hopyard.search.options import SearchOptions, SearchSpec
from hopyard.search.own_sampler import OwnSampler
from hopyard.search.pruners import pruner_for
from hopyard.search.reading import Lists
from hopyard.search.rows import RowsSampler
from hopyard.search.runner import StudyPlan, StudyRunner
from hopyard.search.samplers import sampler_for
from hopyard.search.space import SearchSpace, Space
from hopyard.search.study import Study
from hopyard.search.trial_call import TrialCall
from hopyard.search.trial_result import Wanted
from hopyard.store import Project
from hopyard.tracking import newest_study, study_record

if TYPE_CHECKING:
    from optuna.samplers import BaseSampler

    from hopyard.tracking import RunRecord
    from hopyard.training.options import RunOptions


def search(
    fn: Callable[..., Any],
    space: Mapping[str, object] | SearchSpace,
    *,
    sampler: str | BaseSampler | None = None,
    sampler_options: Mapping[str, Any] | None = None,
    trials: int | None = None,
    **options: Unpack[SearchOptions],
) -> Study:
    """Tries a function with different parameters, many at a time, and returns what came of it.

    Args:
        fn: The function. Its arguments are the parameters, by name; a parameter named ``ctx`` receives the
            `NodeContext`. It returns a number, or a mapping with the metric.
        space: What each parameter may be: a list of values, two bounds, `Range`, `Choice`, or a distribution of Optuna.
        sampler: What chooses the next trial, by name (see `sampler_for`) or a sampler of Optuna; TPE if not given.
        sampler_options: Settings of the sampler.
        trials: How many trials there are to be; needed unless the sampler knows, or there is a ``timeout``.
        options: See `SearchOptions`.

    Raises:
        InvalidSpace: A parameter cannot be searched.
        InvalidSearch: Options do not fit together.
        BadArguments: The function does not have these parameters.
        NotPicklable: The function cannot travel; the error names the variable at fault.
        StudyFailed: The first trials all failed in the same way.
    """
    is_grid = sampler == "grid"
    lists = Lists.VALUES if is_grid else Lists.BOUNDS
    whole = Space.of(space, lists=lists) if isinstance(space, Mapping) else space
    wanted = Wanted.MAYBE if is_grid else Wanted.VALUE
    return run_search(fn, whole, sampler, dict(sampler_options or {}), trials, wanted, options)


def grid_search(
    fn: Callable[..., Any], space: Mapping[str, object], **options: Unpack[SearchOptions]
) -> Study:
    """Tries a function with each combination of some values, the last parameter changing fastest; as `search`.

    The function may return nothing; there is no best trial then.
    """
    options.setdefault("kind", "grid_search")
    return search(fn, space, sampler="grid", **options)


def random_search(
    fn: Callable[..., Any],
    space: Mapping[str, object],
    trials: int = 10,
    **options: Unpack[SearchOptions],
) -> Study:
    """Tries a function with parameters chosen at random; as `search`."""
    options.setdefault("kind", "random_search")
    return search(fn, space, sampler="random", trials=trials, **options)


def differential_evolution(
    fn: Callable[..., Any],
    space: Mapping[str, object],
    *,
    generations: int = 10,
    population: int = 10,
    mutation: float | Sequence[float] = (0.5, 1.0),
    crossover: float = 0.7,
    strategy: str = "best1bin",
    synchronous: bool = False,
    **options: Unpack[SearchOptions],
) -> Study:
    """Evolves the parameters of a function; as `search`.

    Args:
        fn: The function.
        space: What each parameter may be.
        generations: How many candidates there are for each member, after the first population.
        population: How many members there are.
        mutation: Factor of the differences, or two bounds for it.
        crossover: Probability of a parameter to be changed.
        strategy: Which member is varied: ``best1bin`` a good one, ``rand1bin`` any, as in the textbook.
        synchronous: Whether each generation waits for the one before; its trials are then in ``generation.<g>``.
        options: See `SearchOptions`.
    """
    options.setdefault("kind", "differential_evolution")
    evolution = {
        "generations": generations,
        "population": population,
        "mutation": mutation,
        "crossover": crossover,
        "strategy": strategy,
        "synchronous": synchronous,
    }
    return search(fn, space, sampler="de", sampler_options=evolution, **options)


def ablation(
    fn: Callable[..., Any], components: Mapping[str, Sequence[str]], **options: Unpack[SearchOptions]
) -> Study:
    """Tries a function with everything, and then without each component; as `search`.

    Args:
        fn: The function. For each group it gets the list of the components that remain, and ``left_out`` if it has a
            parameter of that name.
        components: What can be left out, by group, such as ``{"features": ["age", "sex"], "layers": ["dense"]}``.
        options: See `SearchOptions`.
    """
    options.setdefault("kind", "ablation")
    space = Ablation.of(components, fn)
    return run_search(fn, space, RowsSampler(space.rows), {}, None, Wanted.VALUE, options)


def run_search(
    fn: Callable[..., Any],
    space: SearchSpace,
    sampler: str | BaseSampler | None,
    sampler_options: Mapping[str, Any],
    trials: int | None,
    wanted: Wanted,
    options: SearchOptions,
) -> Study:
    """Checks all that can be checked, then runs the study."""
    if not callable(fn):
        raise BadArguments(repr(fn), "it is not a function")
    space.check(fn)
    spec = SearchSpec.of(trials, options)
    call = TrialCall.of(fn, spec.objectives, wanted)
    payload = call.dump()
    pruner = pruner_for(options.get("pruner"))
    project = options.get("project") or Project.open()
    backend = slot_backend(options.get("backend"), options.get("spark"))
    if spec.nodes > 1:
        backend = ClusterSlotBackend(
            inner=backend, call=call, nodes=spec.nodes, options=_cluster_options(spec, project, options)
        )
    room = spec.parallel or backend.room(spec.devices)
    chooser = sampler_for(
        sampler,
        space,
        seed=options.get("seed"),
        parallel=room,
        directions=spec.directions,
        is_pruned=not isinstance(pruner, NopPruner),
        **sampler_options,
    )
    spec = _bounded(spec, chooser)
    name = options.get("name") or str(getattr(fn, "__name__", type(fn).__name__))
    plan = StudyPlan(
        spec=spec,
        space=space,
        sampler=chooser,
        pruner=pruner,
        payload=payload,
        project=project,
        backend=backend,
        parallel=min(room, spec.rules.trials or room),
        name=name,
        kind=options.get("kind", "search"),
        description=options.get("description", ""),
        earlier=_earlier(project, name, space, options),
        tensorboard=options.get("tensorboard", False),
        progress=options.get("progress"),
    )
    return StudyRunner(plan).run()


def _cluster_options(spec: SearchSpec, project: Project, options: SearchOptions) -> RunOptions:
    """Returns how the clusters of trials are run that have more than one node."""
    return {
        "ps": spec.ps,
        "evaluator": spec.evaluator,
        "gpus_per_node": spec.devices.gpus,
        "gpu_fraction": spec.devices.fraction,
        "lease_seconds": spec.rules.lease,
        "spark": options.get("spark"),
        "backend": options.get("backend"),
        "project": project,
        "progress": False,
    }


def _earlier(project: Project, name: str, space: SearchSpace, options: SearchOptions) -> RunRecord | None:
    """Returns the study to go on with, if that was asked for and there is one.

    Raises:
        InvalidSearch: It has another space.
        StudyBusy: Another driver is at it.
    """
    record = newest_study(project, name) if options.get("resume", False) else None
    if record is None:
        return None
    known = study_record(project, record.id)
    if known is not None and json.loads(json.dumps(known.space)) != json.loads(json.dumps(space.to_json())):
        raise InvalidSearch(
            f"another space than the study {record.id} that it resumes",
            f"give it another name, or the space that it had: {json.dumps(known.space)}",
        )
    return await_its_driver(project, record)


def _bounded(spec: SearchSpec, sampler: BaseSampler) -> SearchSpec:
    """Returns the specification with the number of trials that the sampler has, if it knows.

    Raises:
        InvalidSearch: There would be no end.
    """
    total = sampler.total if isinstance(sampler, OwnSampler) else None
    wanted = spec.rules.trials
    if total is not None:
        return replace(
            spec, rules=replace(spec.rules, trials=total if wanted is None else min(total, wanted))
        )
    if wanted is None and spec.rules.seconds is None:
        raise InvalidSearch("no end", "give trials= (how many) or timeout= (for how many seconds)")
    return spec
