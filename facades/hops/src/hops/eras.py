"""What a call returns: releases of the Hops library differ, and the way of calling tells the release."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from enum import Enum, StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias

from hops.result_files import with_files
from hopyard.errors import InvalidSetting, NothingFound
from hopyard.run.result import RunResult

if TYPE_CHECKING:
    from hopyard.search.study.study import Study
    from hopyard.tracking import TrialRecord

VARIABLE = "HOPYARD_HOPS_RETURNS"
Returned: TypeAlias = str | tuple[Any, ...]

_SINCE_1_1 = frozenset({"train_fn", "grid_dict", "optimization_key", "metric_key"})
_UNTIL_2_6_2 = frozenset({"maxiter", "popsize", "mutationfactor", "cleanup"})


class Direction(StrEnum):
    """Which values are better; programs for release 1.1 and later say it this way."""

    MAX = "MAX"
    MIN = "MIN"


class Era(Enum):
    """Releases whose functions return the same."""

    FOLDER = "logdir"  # until 2.6.2: the folder
    BEST = "best"  # 2.6.3 to 1.0: the folder; an evolution returns the best parameters, too
    TUPLES = "tuples"  # since 1.1: the folder, the best parameters of a search, what was returned


def era_of(
    names: Collection[str],
    direction: object = None,
    *,
    usual: Era = Era.BEST,
    environ: Mapping[str, str] = os.environ,
) -> Era:
    """Returns the era that a call is of: what a variable says, else what the call itself gives away.

    Args:
        names: What the arguments were called.
        direction: Which values are better, as it was said.
        usual: The era if nothing tells.
        environ: Where the variable ``HOPYARD_HOPS_RETURNS`` may be.

    Raises:
        InvalidSetting: The variable has a value that means nothing.
    """
    if said := environ.get(VARIABLE):
        known = {era.value: era for era in Era}
        if said not in known:
            raise InvalidSetting(f"{VARIABLE}={said}", f"there are {', '.join(known)}")
        return known[said]
    if isinstance(direction, Direction) or _SINCE_1_1 & frozenset(names):
        return Era.TUPLES
    return Era.FOLDER if _UNTIL_2_6_2 & frozenset(names) else usual


def of_run(result: RunResult | Study, era: Era) -> Returned:
    """Returns what a program of some era expects of a launch: of one run, or of several that belong together."""
    if era is not Era.TUPLES:
        return result.logdir
    if not isinstance(result, RunResult):
        return result.logdir, None
    value = result.value if isinstance(result.value, Mapping) else {"metric": result.value}
    return result.logdir, with_files(value, result.logdir)


def of_study(study: Study, era: Era, *, key: str, evolves: bool = False) -> Returned:
    """Returns what a program of some era expects of a search.

    Args:
        study: What came of it.
        era: Which era.
        key: What the function calls the value that was compared.
        evolves: Whether it was an evolution.
    """
    if era is Era.FOLDER or (era is Era.BEST and not evolves):
        return study.logdir
    best = _best(study)
    params = {} if best is None else dict(best.params)
    if era is Era.BEST:
        return study.logdir, params
    if best is None:
        return study.logdir, params, {}
    folder = study.trial_logdir(best)
    return folder, params, with_files({**best.result, key: best.value}, folder)


def _best(study: Study) -> TrialRecord | None:
    try:
        return study.best_trial
    except NothingFound:
        return None
