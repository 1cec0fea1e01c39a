"""What the parameters of a search may be, in the words of TensorBoard's table of trials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from hopyard.tensorboard.hparams import Domain, Interval, StudyEvents

if TYPE_CHECKING:
    from hopyard.search.space.space import SearchSpace


def study_events(space: SearchSpace, objectives: Sequence[str]) -> StudyEvents:
    """Returns the columns of a study: its parameters, and what is compared."""
    params = {name: _domain(distribution) for name, distribution in space.distributions.items()}
    return StudyEvents(params=params, metrics=tuple(objectives))


def _domain(distribution: BaseDistribution) -> Domain:
    match distribution:
        case CategoricalDistribution(choices=choices):
            return tuple(choices)
        case IntDistribution(low=low, high=high) | FloatDistribution(low=low, high=high):
            return Interval(low=low, high=high)
    raise AssertionError(distribution)
