"""A sampler for trials that are known from the beginning: those of a grid, a launch or an ablation study."""

# ruff: noqa: ARG002 -- Optuna tells a sampler more than a row needs

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hopyard.errors import InvalidSearch
from hopyard.search.own_sampler import OwnSampler

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.study import Study
    from optuna.trial import FrozenTrial


class RowsSampler(OwnSampler):
    """Gives trial number n row number n, in a study that is resumed as in a new one.

    Args:
        rows: The parameters of each trial, as they are stored.
    """

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        self._rows = tuple(rows)

    @property
    def total(self) -> int:
        """How many rows there are."""
        return len(self._rows)

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
            InvalidSearch: There is no such row, or it lacks the parameter.
        """
        if trial.number >= self.total:
            raise InvalidSearch(
                f"a trial number {trial.number}", f"it has {self.total} trials, from number 0"
            )
        row = self._rows[trial.number]
        if param_name not in row:
            raise InvalidSearch(f"{param_name!r} in trial {trial.number}", f"the trial's row is {dict(row)}")
        return row[param_name]
