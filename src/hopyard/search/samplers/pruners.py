"""Pruners by name: what ends a trial early because it will not be among the best."""

from __future__ import annotations

import warnings
from collections.abc import Callable

from optuna.exceptions import ExperimentalWarning
from optuna.pruners import (
    BasePruner,
    HyperbandPruner,
    MedianPruner,
    NopPruner,
    PatientPruner,
    SuccessiveHalvingPruner,
)

from hopyard.errors import InvalidSearch
from hopyard.search.samplers.suggestion import did_you_mean

REDUCTION = 3
FIRST_JUDGED = 3  # a first epoch tells little: judged by it, one search in four lost its best trial (docs/design/search.md)
PATIENCE = 3
MEANINGS = {
    "asha": "sha successive_halving halving async_hyperband",
    "hyperband": "bohb hb",
    "median": "median_stopping median_stopping_rule percentile",
    "patience": "early_stopping early_stop plateau patient",
}


def pruner_for(pruner: str | BasePruner | None) -> BasePruner:
    """Returns a pruner; it judges by the values of the objective that a trial reports step by step.

    | name | which trials it ends |
    |---|---|
    | ``none`` | None at all. |
    | ``median`` | Those whose best value is worse than the median of others at the same step. |
    | ``asha`` | At steps 3, 9, 27 and so on, those that are not among the best third. |
    | ``hyperband`` | The same from step 1, but some trials are first judged at a later step, in case the first ones mislead. |
    | ``patience`` | Those that ``median`` ends, but only once they have not become better for three steps. |

    Args:
        pruner: A name, None for none, or a pruner of Optuna's, which is returned as it is.

    Raises:
        InvalidSearch: There is no such pruner.
    """
    if isinstance(pruner, BasePruner):
        return pruner
    kinds = _kinds()
    name = pruner or "none"
    if name not in kinds:
        remedy = (
            f"{did_you_mean(str(name), kinds, MEANINGS)}Use {', '.join(kinds)}, or a pruner object of Optuna"
        )
        raise InvalidSearch(f"there is no pruner {pruner!r}", remedy)
    with warnings.catch_warnings():
        # PatientPruner has been experimental for years; the user cannot do anything about it.
        warnings.simplefilter("ignore", ExperimentalWarning)
        return kinds[name]()


def _kinds() -> dict[str, Callable[[], BasePruner]]:
    return {
        "none": NopPruner,
        "median": MedianPruner,
        "asha": _asha,
        "hyperband": _hyperband,
        "patience": _patience,
    }


def _asha() -> BasePruner:
    return SuccessiveHalvingPruner(min_resource=FIRST_JUDGED, reduction_factor=REDUCTION)


def _hyperband() -> BasePruner:
    # How many steps a trial has is learnt from the first one that ends.
    return HyperbandPruner(min_resource=1, max_resource="auto", reduction_factor=REDUCTION)


def _patience() -> BasePruner:
    # Around another pruner, because a trial that is good and has come to a halt has to count, and a pruned one doesn't.
    return PatientPruner(MedianPruner(), patience=PATIENCE)
