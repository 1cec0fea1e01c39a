"""The root of all errors, and what makes an error of a few annotations and a text."""

from __future__ import annotations

import inspect
from typing import dataclass_transform


@dataclass_transform(eq_default=False)
class HopyardError(Exception):
    """Root of all errors that Hopyard raises on purpose.

    A subclass names its fields and its text:

        class PathNotFound(HopyardError, FileNotFoundError):
            path: str
            text = "{path} does not exist; check the path."

    The fields, inherited ones first, are the arguments of the constructor, attributes, ``args``, and what is pickled.
    Where the words depend on values, a method ``__str__`` takes the place of ``text``.
    """

    __module__ = "hopyard.errors"
    # Not annotated, so that the type hints of an error are its fields and nothing else. ``text`` is not declared here,
    # since some errors have a field of that name.
    __signature__ = inspect.Signature()
    _template = ""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        own, fields = vars(cls), inspect.get_annotations(cls)
        if "text" in own and "text" not in fields:
            cls._template = own["text"]
        parameters = dict(cls.__signature__.parameters)
        for name, annotation in fields.items():
            parameters[name] = inspect.Parameter(
                name,
                inspect.Parameter.POSITIONAL_OR_KEYWORD,
                default=own.get(name, inspect.Parameter.empty),
                annotation=annotation,
            )
        cls.__signature__ = inspect.Signature(list(parameters.values()))
        if cls.__module__.startswith(f"{HopyardError.__module__}."):
            cls.__module__ = HopyardError.__module__  # tracebacks and pickles name the path to import from

    def __init__(self, *values: object, **named: object) -> None:
        # Not handed on by super().__init__: OSError would take two fields for errno and strerror, and keep no more than
        # three. What it never gets, it does not parse: its __new__ leaves that to __init__, if a subclass has one.
        bound = self.__signature__.bind(*values, **named)
        bound.apply_defaults()
        self.args = tuple(bound.arguments.values())
        for name, value in bound.arguments.items():
            setattr(self, name, value)

    def __str__(self) -> str:
        return self._template.format(**{name: getattr(self, name) for name in self.__signature__.parameters})

    def __reduce__(self) -> tuple[type[HopyardError], tuple[object, ...], dict[str, object]]:
        # OSError and ImportError have one of their own, which puts attributes called like theirs into the arguments;
        # the attributes hold what was added later, such as notes
        return type(self), self.args, vars(self)
