"""Searches: parallel trials of a function with different parameters."""

# The parameters that all searches share are written out in each: editors, `help` and Jupyter read them there.
# They are handed on together, by `shared_options`.

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from hopyard.search.option_names import checks_options
from hopyard.search.options import shared_options
from hopyard.search.request import SearchRequest
from hopyard.search.samplers.fixed_rows import RowsSampler
from hopyard.search.space.ablation import Ablation
from hopyard.search.space.space import SearchSpace, Space
from hopyard.search.study.study import Study
from hopyard.search.trial.result import Wanted

if TYPE_CHECKING:
    from optuna.pruners import BasePruner
    from optuna.samplers import BaseSampler
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    from hopyard.search.options import SearchOptions
    from hopyard.store import Project


@checks_options
def search(
    fn: Callable[..., Any],
    space: Mapping[str, object] | SearchSpace,
    *,
    sampler: str | BaseSampler | None = None,
    sampler_options: Mapping[str, Any] | None = None,
    trials: int | None = None,
    metric: str | Sequence[str] | None = None,
    direction: str | Sequence[str] | None = None,
    parallel: int | None = None,
    pruner: str | BasePruner | None = None,
    seed: int | None = None,
    timeout: float | None = None,
    trial_timeout: float | None = None,
    retries: int = 0,
    same_failures: int = 3,
    isolate: bool = False,
    nodes_per_trial: int = 1,
    ps: int = 0,
    evaluator: bool = False,
    gpus_per_trial: int | None = None,
    gpu_fraction: float | None = None,
    lease_seconds: float = 30.0,
    name: str | None = None,
    description: str = "",
    resume: bool | Literal["if_exists"] = False,
    tensorboard: bool = False,
    tls: bool | None = None,
    progress: bool | None = None,
    spark: SparkSession | SparkContext | None = None,
    backend: str | None = None,
    project: Project | None = None,
    kind: str = "search",
) -> Study:
    """Runs a function many times with different parameters, in parallel, and returns the results.

    Args:
        fn: The function. Its arguments are the parameters, by name; a parameter named ``ctx`` receives the
            `NodeContext`. It returns a number, or a mapping with the metric.
        space: What each parameter may be: a list of values (always a choice, also of two numbers), a `Range`, a
            `Choice`, a distribution of Optuna, or a single value that each trial gets. A tuple is refused, since it may
            mean a range or a value.
        sampler: What chooses the next trial: ``"tpe"`` (the default), ``"random"``, ``"grid"``, ``"gp"``, ``"cmaes"``,
            ``"qmc"``, ``"nsga2"``, ``"de"``, or a sampler of Optuna.
        sampler_options: Settings of the sampler.
        trials: How many trials to run; needed unless the sampler knows (a grid does) or there is a ``timeout``.
        metric: Which value counts, if the function returns a mapping; several names for several objectives.
        direction: ``"max"`` (large values are better) or ``"min"``; one for each of several metrics. The default is
            ``"max"``, unlike Optuna's; a metric or function with a name such as ``loss`` needs a direction.
        parallel: How many trials run at the same time; as many as there are slots if not given.
        pruner: What stops trials early that will not be among the best: ``"median"``, ``"asha"``, ``"hyperband"``,
            ``"patience"``, or a pruner of Optuna.
        seed: Makes the choice of parameters repeatable.
        timeout: Seconds after which no new trial starts.
        trial_timeout: Seconds after which a trial is stopped and counts as failed.
        retries: How often a trial that failed is tried again.
        same_failures: If so many trials fail with the same error before any ends well, the search is stopped.
        isolate: Whether each trial gets a fresh process; otherwise the trials of a slot share one.
        nodes_per_trial: How many nodes each trial has; with more than one it is a distributed run of its own.
        ps: How many of them are parameter servers.
        evaluator: Whether one of them evaluates.
        gpus_per_trial: GPUs of each trial, or of each of its nodes that train.
        gpu_fraction: Share of one GPU for each.
        lease_seconds: Seconds without a word until a slot, or the driver, counts as lost.
        name: A name for the study, which no other study of the project has; that of the function, with a number if it
            is taken, if not given.
        description: Free text that is kept with the study.
        resume: False: start a new study. True: go on with the study of this name; without a name, with the newest
            study of the function. ``"if_exists"``: go on with it if there is one, else start it. What has ended stays,
            what was under way runs again.
        tensorboard: Show the study in a TensorBoard while it runs.
        tls: Whether all connections of the study are encrypted; by default as HOPYARD_TLS says (1 or 0), else if Spark
            encrypts its own. It needs ``pip install 'hopyard[tls]'`` on the driver.
        progress: Whether a table of the trials is shown; by default on a terminal and in a notebook.
        spark: The session to run on; the active one if not given.
        backend: ``"spark"`` (the default) or ``"processes"`` (this machine, no Spark).
        project: Where the study is kept; `Project.open` with its defaults if not given.
        kind: The folder that groups runs of this kind.

    Raises:
        InvalidSpace: A parameter cannot be searched.
        InvalidSearch: Options do not fit together.
        BadArguments: The function does not have these parameters.
        NotPicklable: The function cannot travel; the error names the variable at fault.
        StudyExists: There is a study of this name, and ``resume`` was not given.
        StudyNotFound: There is no study of this name to resume.
        StudyFailed: The first trials all failed with the same error.
    """
    options = shared_options(locals())
    return request_of(fn, space, sampler, sampler_options, trials, options).run()


@checks_options
def grid_search(  # noqa: D417  those that all share are described in `search`
    fn: Callable[..., Any],
    space: Mapping[str, object],
    *,
    metric: str | Sequence[str] | None = None,
    direction: str | Sequence[str] | None = None,
    parallel: int | None = None,
    pruner: str | BasePruner | None = None,
    seed: int | None = None,
    timeout: float | None = None,
    trial_timeout: float | None = None,
    retries: int = 0,
    same_failures: int = 3,
    isolate: bool = False,
    nodes_per_trial: int = 1,
    ps: int = 0,
    evaluator: bool = False,
    gpus_per_trial: int | None = None,
    gpu_fraction: float | None = None,
    lease_seconds: float = 30.0,
    name: str | None = None,
    description: str = "",
    resume: bool | Literal["if_exists"] = False,
    tensorboard: bool = False,
    tls: bool | None = None,
    progress: bool | None = None,
    spark: SparkSession | SparkContext | None = None,
    backend: str | None = None,
    project: Project | None = None,
    kind: str = "grid_search",
) -> Study:
    """Runs a function with each combination of some values, the last parameter changing fastest.

    All other arguments are those of `search`. The function may return nothing; there is no best trial then.

    Args:
        fn: The function.
        space: The values of each parameter, as lists; or ranges with a step.
    """
    options = shared_options(locals())
    return request_of(fn, space, "grid", None, None, options, call="grid_search").run()


@checks_options
def random_search(  # noqa: D417  those that all share are described in `search`
    fn: Callable[..., Any],
    space: Mapping[str, object],
    trials: int = 10,
    *,
    metric: str | Sequence[str] | None = None,
    direction: str | Sequence[str] | None = None,
    parallel: int | None = None,
    pruner: str | BasePruner | None = None,
    seed: int | None = None,
    timeout: float | None = None,
    trial_timeout: float | None = None,
    retries: int = 0,
    same_failures: int = 3,
    isolate: bool = False,
    nodes_per_trial: int = 1,
    ps: int = 0,
    evaluator: bool = False,
    gpus_per_trial: int | None = None,
    gpu_fraction: float | None = None,
    lease_seconds: float = 30.0,
    name: str | None = None,
    description: str = "",
    resume: bool | Literal["if_exists"] = False,
    tensorboard: bool = False,
    tls: bool | None = None,
    progress: bool | None = None,
    spark: SparkSession | SparkContext | None = None,
    backend: str | None = None,
    project: Project | None = None,
    kind: str = "random_search",
) -> Study:
    """Runs a function with parameters chosen at random; all other arguments are those of `search`.

    Args:
        fn: The function.
        space: What each parameter may be: a list is a choice, and `Range` is a range.
        trials: How many trials to run.
    """
    options = shared_options(locals())
    return request_of(fn, space, "random", None, trials, options, call="random_search").run()


@checks_options
def differential_evolution(  # noqa: D417  those that all share are described in `search`
    fn: Callable[..., Any],
    space: Mapping[str, object],
    *,
    generations: int = 10,
    population: int = 10,
    mutation: float | Sequence[float] = (0.5, 1.0),
    crossover: float = 0.7,
    strategy: str = "best1bin",
    synchronous: bool = False,
    metric: str | Sequence[str] | None = None,
    direction: str | Sequence[str] | None = None,
    parallel: int | None = None,
    pruner: str | BasePruner | None = None,
    seed: int | None = None,
    timeout: float | None = None,
    trial_timeout: float | None = None,
    retries: int = 0,
    same_failures: int = 3,
    isolate: bool = False,
    nodes_per_trial: int = 1,
    ps: int = 0,
    evaluator: bool = False,
    gpus_per_trial: int | None = None,
    gpu_fraction: float | None = None,
    lease_seconds: float = 30.0,
    name: str | None = None,
    description: str = "",
    resume: bool | Literal["if_exists"] = False,
    tensorboard: bool = False,
    tls: bool | None = None,
    progress: bool | None = None,
    spark: SparkSession | SparkContext | None = None,
    backend: str | None = None,
    project: Project | None = None,
    kind: str = "differential_evolution",
) -> Study:
    """Evolves the parameters of a function; all other arguments are those of `search`.

    Args:
        fn: The function.
        space: What each parameter may be: a list is a choice, and `Range` is a range.
        generations: How many candidates there are for each member, after the first population.
        population: How many members there are.
        mutation: Factor of the differences, or two bounds for it.
        crossover: Probability of a parameter to be changed.
        strategy: Which member is varied: a good one (``"best1bin"``), or one at random as in the textbook
            (``"rand1bin"``).
        synchronous: Whether each generation waits for the one before; its trials are then in ``generation.<g>``.
    """
    options = shared_options(locals())
    evolution = {
        "generations": generations,
        "population": population,
        "mutation": mutation,
        "crossover": crossover,
        "strategy": strategy,
        "synchronous": synchronous,
    }
    return request_of(fn, space, "de", evolution, None, options, call="differential_evolution").run()


@checks_options
def ablation(  # noqa: D417  those that all share are described in `search`
    fn: Callable[..., Any],
    components: Mapping[str, Sequence[str]],
    *,
    metric: str | Sequence[str] | None = None,
    direction: str | Sequence[str] | None = None,
    parallel: int | None = None,
    pruner: str | BasePruner | None = None,
    seed: int | None = None,
    timeout: float | None = None,
    trial_timeout: float | None = None,
    retries: int = 0,
    same_failures: int = 3,
    isolate: bool = False,
    nodes_per_trial: int = 1,
    ps: int = 0,
    evaluator: bool = False,
    gpus_per_trial: int | None = None,
    gpu_fraction: float | None = None,
    lease_seconds: float = 30.0,
    name: str | None = None,
    description: str = "",
    resume: bool | Literal["if_exists"] = False,
    tensorboard: bool = False,
    tls: bool | None = None,
    progress: bool | None = None,
    spark: SparkSession | SparkContext | None = None,
    backend: str | None = None,
    project: Project | None = None,
    kind: str = "ablation",
) -> Study:
    """Runs a function with everything, and then without each component; all other arguments are those of `search`.

    Args:
        fn: The function. For each group it gets the list of the components that remain, and ``left_out`` if it has a
            parameter of that name.
        components: What can be left out, by group, such as ``{"features": ["age", "sex"], "layers": ["dense"]}``.
    """
    options = shared_options(locals())
    space = Ablation.of(components, fn)
    return request_of(fn, space, RowsSampler(space.rows), None, None, options, call="ablation").run()


def request_of(
    fn: Callable[..., Any],
    space: Mapping[str, object] | SearchSpace,
    sampler: str | BaseSampler | None,
    sampler_options: Mapping[str, Any] | None,
    trials: int | None,
    options: SearchOptions,
    *,
    call: str = "search",
) -> SearchRequest:
    """Returns the search that somebody asked for with these arguments."""
    return SearchRequest(
        fn=fn,
        space=space if isinstance(space, SearchSpace) else Space.of(space),
        sampler=sampler,
        sampler_options=sampler_options or {},
        trials=trials,
        # a grid has its trials whatever comes of them, unless somebody said by what to compare them
        wanted=Wanted.MAYBE if sampler == "grid" and options.get("metric") is None else Wanted.VALUE,
        options=options,
        call=call,
    )
