"""Parameters as coordinates of the unit cube: equal distances are equally likely, whatever the scale."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)

from hopyard.search.samplers.evolution import Dimension
from hopyard.search.space.parameters import stepped


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """A parameter as one coordinate.

    Numbers with a step and choices lie in cells of equal width, so that the first and the last are as likely as the
    others. On a logarithmic scale whole numbers lie between their halves.

    Attributes:
        distribution: The parameter's own range.
    """

    distribution: BaseDistribution

    @property
    def dimension(self) -> Dimension:
        """What the coordinate is like."""
        match self.distribution:
            case CategoricalDistribution(choices=choices):
                return Dimension(cells=len(choices), is_ordered=False)
            case IntDistribution(low=low, high=high, log=False, step=step):
                return Dimension(cells=(high - low) // step + 1)
            case FloatDistribution(low=low, high=high, step=float() as step):
                return Dimension(cells=round((high - low) / step) + 1)
        return Dimension()

    def value(self, coordinate: float) -> Any:
        """Returns the parameter's stored value at a coordinate."""
        cells = self.dimension.cells
        cell = 0 if cells is None else min(int(coordinate * cells), cells - 1)
        match self.distribution:
            case CategoricalDistribution(choices=choices):
                return choices[cell]
            case (
                IntDistribution(low=low, log=False, step=step)
                | FloatDistribution(low=low, step=float() as step)
            ):
                return stepped(low, step, cell)
            case IntDistribution(low=low, high=high):
                return min(max(round(self._scaled(coordinate)), low), high)
            case FloatDistribution(low=low, high=high):
                return min(max(self._scaled(coordinate), low), high)
        raise AssertionError(self.distribution)

    def coordinate(self, value: Any) -> float:
        """Returns where a stored value lies; in the middle of its cell if it has one."""
        cells = self.dimension.cells
        match self.distribution:
            case CategoricalDistribution():
                cell = self.distribution.to_internal_repr(value)
            case (
                IntDistribution(low=low, log=False, step=step)
                | FloatDistribution(low=low, step=float() as step)
            ):
                cell = round((value - low) / step)
            case _:
                low, high = self._bounds
                place = math.log(value) if self._is_log else value
                return min(max(float((place - low) / (high - low)), 0.0), 1.0)
        assert cells is not None
        return float((min(max(cell, 0), cells - 1) + 0.5) / cells)

    @property
    def _is_log(self) -> bool:
        return bool(getattr(self.distribution, "log", False))

    @property
    def _bounds(self) -> tuple[float, float]:
        assert isinstance(self.distribution, (IntDistribution, FloatDistribution))
        margin = 0.5 if isinstance(self.distribution, IntDistribution) else 0.0
        low, high = self.distribution.low - margin, self.distribution.high + margin
        return (math.log(low), math.log(high)) if self._is_log else (low, high)

    def _scaled(self, coordinate: float) -> float:
        low, high = self._bounds
        place = low + coordinate * (high - low)
        return math.exp(place) if self._is_log else place
