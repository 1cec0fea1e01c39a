"""What a run is called and described as, from the arguments of any release."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import Self

from hopyard.errors import NotOffered

NO_NAME = "no-name"


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """Name and description of a run.

    Attributes:
        name: None for that of the function.
        description: Free text.
        evaluator: Whether one of the nodes evaluates.
        key: What is compared, where it followed the description.
    """

    name: str | None = None
    description: str = ""
    evaluator: bool = False
    key: str | None = None

    @classmethod
    def of(
        cls,
        name: str,
        versioned_resources: object = None,
        description: object = None,
        evaluator: object = False,
    ) -> Self:
        """Returns the label that a call gives.

        Since 1.1 there are no ``versioned_resources``, and what follows them has moved up: a text in their place is
        the description, and what is in its place is the evaluator if it is a truth value, else what is compared.

        Raises:
            NotOffered: There are resources to be versioned.
        """
        if isinstance(description, bool):
            evaluator, description = description, None
        key = None
        if isinstance(versioned_resources, str):
            key, versioned_resources, description = description, None, versioned_resources
        if versioned_resources:
            instead = "copy what belongs to a run to tensorboard.logdir() instead"
            raise NotOffered("versioned_resources", instead)
        return cls(
            name=None if name == NO_NAME else name,
            description=str(description or ""),
            evaluator=bool(evaluator),
            key=None if key is None else str(key),
        )


def has_tensorboard() -> bool:
    """Returns whether runs are shown in TensorBoard: they always are, where it is installed."""
    return importlib.util.find_spec("tensorboard") is not None
