"""A sampler for trials that are known from the beginning: those of a grid, a launch or an ablation study."""

# ruff: noqa: ARG002 -- Optuna tells a sampler more than a row needs

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hopyard.errors import InvalidSearch
from hopyard.search.samplers.own_sampler import OwnSampler

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.study import Study
    from optuna.trial import FrozenTrial


NOTE = "hopyard:row"


class RowsSampler(OwnSampler):
    """Gives each trial the next row that no other trial has, in a study that is resumed as in a new one.

    Args:
        rows: The parameters of each trial, as they are stored.
        shuffled: Whether rows come in an order of no meaning, always the same: who judges a trial by those before it
            must not see all bad ones first.
    """

    def __init__(self, rows: Sequence[Mapping[str, Any]], *, shuffled: bool = False) -> None:
        self._rows = tuple(rows)
        self._left = list(range(len(self._rows)))
        if shuffled:
            random.Random(len(self._left)).shuffle(self._left)  # noqa: S311  an order, no secret
        self._seen = 0

    @property
    def total(self) -> int:
        """How many rows there are."""
        return len(self._rows)

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """Decides which row a trial gets, and notes it.

        Raises:
            InvalidSearch: There is none left.
        """
        if NOTE in trial.system_attrs:
            return  # a trial that is repeated
        for other in self._trials(study)[self._seen : trial.number]:
            self._seen += 1
            row = other.system_attrs.get(NOTE)
            if row in self._left:  # else it is this sampler's own, or the trial is another sampler's
                self._left.remove(row)
        if not self._left:
            raise InvalidSearch(
                f"there is no trial number {trial.number}",
                f"The study has {self.total} trials, from number 0",
            )
        self._remember(study, trial, NOTE, self._left.pop(0))

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """Returns nothing: each parameter is asked for by itself."""
        return {}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Returns nothing: each parameter is asked for by itself."""
        return {}

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """Returns the value that a parameter has in the trial's row.

        Raises:
            InvalidSearch: The row lacks the parameter.
        """
        row = self._rows[self._recall(study, trial)[NOTE]]
        if param_name not in row:
            raise InvalidSearch(f"trial {trial.number} has no {param_name!r}", f"It has {dict(row)}")
        return row[param_name]
