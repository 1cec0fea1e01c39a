"""The options of searches under the names that Optuna, Ray, Hyperopt and others have for them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from hopyard.errors import BadArguments
from hopyard.interruption import keeping_notes
from hopyard.run.option_names import OptionNames

P = ParamSpec("P")
R = TypeVar("R")

_ELSEWHERE = {
    "trials": "n_trials num_trials max_trials num_samples n_samples max_evals n_iter n_calls budget",
    "parallel": "n_jobs jobs parallelism max_concurrent_trials max_concurrent max_parallel num_workers "
    "n_workers workers num_executors executors concurrency",
    "direction": "mode directions optimize maximize minimize",
    "metric": "metrics optimization_key objective_name target",
    "sampler": "search_alg algo algorithm method strategy",
    "pruner": "scheduler early_stopping stopper",
    "timeout": "time_budget_s time_budget max_seconds max_time timeout_seconds",
    "trial_timeout": "timeout_per_trial trial_seconds",
    "retries": "max_failures max_retries max_restarts n_retries",
    "seed": "random_state rng rstate random_seed",
    "name": "study_name experiment_name app_name run_name",
    "resume": "load_if_exists restore exist_ok",
    "progress": "show_progress_bar progressbar progress_bar verbose",
    "project": "storage storage_path local_dir",
    "spark": "sc spark_session spark_context",
    "nodes_per_trial": "nodes num_nodes n_nodes",
    "gpus_per_trial": "gpus_per_node num_gpus gpus n_gpus resources_per_trial",
    "space": "search_space param_space params param_grid param_distributions config searchspace",
    "fn": "objective func function train_fn map_fun trainable",
    "generations": "maxiter n_generations",
    "population": "popsize population_size",
}
_INSTEAD = {
    "args": "a parameter that is the same in all trials is a single value in the space",
    "feed": "trials are not fed; write the data to the project and read them in each trial",
}
_ALL_ROWS = "it runs all there is; leave it out, or use hopyard.random_search(..., trials=...)"
_EVOLVED = "use 'generations' and 'population'"
_OTHER_SAMPLER = "use hopyard.search(..., sampler=...)"


def checks_options(function: Callable[P, R]) -> Callable[P, R]:
    """Returns a search that tells what is meant where it is called with an option that it does not have.

    Its signature stays what it was, for `help` and editors.
    """
    parameters = inspect.signature(function).parameters
    by_place = [name for name, each in parameters.items() if each.kind is each.POSITIONAL_OR_KEYWORD]
    names = OptionNames(
        call=function.__name__,
        known=frozenset(parameters),
        elsewhere={word: option for option, words in _ELSEWHERE.items() for word in words.split()},
        instead={**_INSTEAD, **_missing(frozenset(parameters))},
        own="put it into the space: {{{0!r}: ...}}",
    )

    @functools.wraps(function)
    def checked(*args: P.args, **options: P.kwargs) -> R:
        names.check(options, args[0] if args else options.get("fn"))
        if len(args) > len(by_place):
            raise BadArguments(names.call, _by_name(by_place, len(args)))
        try:
            with keeping_notes():
                return function(*args, **options)
        except KeyboardInterrupt as interrupt:
            raise interrupt.with_traceback(
                None
            ) from None  # where we waited is noise; its note says how to go on

    return checked


def _missing(known: frozenset[str]) -> dict[str, str]:
    """Returns what to do instead of options that some searches do not have."""
    remedies = {"trials": _EVOLVED if "generations" in known else _ALL_ROWS, "sampler": _OTHER_SAMPLER}
    return {option: remedy for option, remedy in remedies.items() if option not in known}


def _by_name(by_place: list[str], count: int) -> str:
    return f"{count} arguments without a name; give all but {' and '.join(by_place)} by name, such as metric='loss'"
