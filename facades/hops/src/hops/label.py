"""What a run is called and described as, from the arguments of any release."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import Self

from hopyard.errors import BadArguments
from hopyard.run.shared_options import as_name

NO_NAME = "no-name"


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """Name and description of a run.

    Attributes:
        name: None for that of the function.
        description: Free text.
        evaluator: Whether one of the nodes evaluates.
        key: What is compared, where it followed the description.
        resources: Files of the project to be copied into the run.
    """

    name: str | None = None
    description: str = ""
    evaluator: bool = False
    key: str | None = None
    resources: tuple[str, ...] = ()

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
            BadArguments: The resources are no list of paths.
        """
        if isinstance(description, bool):
            evaluator, description = description, None
        key = None
        if isinstance(versioned_resources, str):
            key, versioned_resources, description = description, None, versioned_resources
        return cls(
            name=None if name == NO_NAME else as_name(str(name or "")),
            description=str(description or ""),
            evaluator=bool(evaluator),
            key=None if key is None else str(key),
            resources=_paths(versioned_resources),
        )


def _paths(resources: object) -> tuple[str, ...]:
    if not resources:
        return ()
    if not isinstance(resources, (list, tuple, set)) or not all(isinstance(path, str) for path in resources):
        reason = f"it is a list of paths in the project, not {resources!r}"
        raise BadArguments("versioned_resources", reason)
    return tuple(resources)


def has_tensorboard() -> bool:
    """Returns whether runs are shown in TensorBoard: they always are, where it is installed."""
    return importlib.util.find_spec("tensorboard") is not None
