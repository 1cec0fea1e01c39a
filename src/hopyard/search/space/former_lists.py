"""Studies from the time when a list of two numbers was a range: they go on as they began."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from hopyard.search.space.parameters import Parameter, Range, is_number
from hopyard.search.space.space import SearchSpace, Space

if TYPE_CHECKING:
    from hopyard.codec.json_value import Json

LOG = logging.getLogger(__name__)


def with_former_lists(space: SearchSpace, stored: Mapping[str, Json]) -> SearchSpace:
    """Returns the space that a study had, if it differs only in that lists of two numbers were ranges.

    Args:
        space: The space as it reads now.
        stored: The description of the space that the study has.
    """
    if not isinstance(space, Space) or space.to_json() == stored:
        return space
    former = Space(_former(space.parameters, stored))
    if former.to_json() != stored:
        return space
    LOG.warning(
        "the study began when two numbers in a list meant a range, and goes on so; write Range(low, high) instead"
    )
    return former


def _former(parameters: tuple[Parameter, ...], stored: Mapping[str, Json]) -> tuple[Parameter, ...]:
    return tuple(_as_stored(parameter, stored.get(parameter.name)) for parameter in parameters)


def _as_stored(parameter: Parameter, stored: Json) -> Parameter:
    match stored:
        case {"choose": Mapping() as chosen} if parameter.branches:
            branches = {
                value: _former(branch, chosen.get(str(value), {}))
                for value, branch in parameter.branches.items()
            }
            return replace(parameter, branches=branches)
        case {"low": _, "high": _} if parameter.choices is not None and not parameter.is_constant:
            values = parameter.choices.objects
            if len(values) == 2 and all(map(is_number, values)):
                return Parameter.between(parameter.name, Range(*values))
    return parameter
