"""A trial on its way to whoever runs it."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import cloudpickle

if TYPE_CHECKING:
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

    def to_json(self) -> dict[str, Json]:
        """Returns what travels."""
        return {
            "number": self.number,
            "params": dict(self.params),
            "arguments": base64.b64encode(self.arguments).decode(),
            "folder": self.folder,
            "attempt": self.attempt,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Returns the assignment that `to_json` wrote."""
        return cls(
            number=value["number"],
            params=value["params"],
            arguments=base64.b64decode(value["arguments"]),
            folder=value["folder"],
            attempt=value["attempt"],
        )
