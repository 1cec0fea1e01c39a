"""A trial on its way to whoever runs it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import cloudpickle

from hopyard.codec.json_value import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """A trial that is to be run.

    Attributes:
        number: Which trial of the study.
        params: Its parameters, as they are recorded.
        arguments: What the function gets for them, pickled: choices may be any objects.
        folder: Its folder in that of the study.
        attempt: How often it was given out before.
    """

    number: int
    params: Mapping[str, Json]
    arguments: bytes
    folder: str
    attempt: int = 0

    @classmethod
    def of(
        cls,
        number: int,
        *,
        params: Mapping[str, Json],
        arguments: Mapping[str, Any],
        folder: str,
        attempt: int = 0,
    ) -> Self:
        """Returns the assignment for a function's arguments."""
        pickled = bytes(cloudpickle.dumps(dict(arguments)))
        return cls(number=number, params=params, arguments=pickled, folder=folder, attempt=attempt)
