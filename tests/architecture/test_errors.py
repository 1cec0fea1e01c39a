"""Every error class crosses a process border unchanged and says what it knows."""

from __future__ import annotations

import ast
import inspect
import pickle
import types
import typing
from itertools import count

import pytest

from hopyard import errors

pytestmark = pytest.mark.unit

CLASSES = [
    member
    for _, member in inspect.getmembers(errors, inspect.isclass)
    if issubclass(member, BaseException) and member.__module__ == errors.__name__
]


def sample(annotation: object, name: str, numbers: typing.Iterator[int]) -> object:
    """Returns a value of a type that is recognised when it turns up in a text."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        return sample(next(each for each in arguments if each is not types.NoneType), name, numbers)
    if origin is tuple:
        each = [arguments[0], arguments[0]] if arguments[-1] is Ellipsis else arguments
        return tuple(sample(part, name, numbers) for part in each)
    if annotation is str:
        return f"{name}-{next(numbers)}"
    if annotation in (int, float):
        return annotation(next(numbers))
    raise TypeError(
        f"{name}: no sample of {annotation!r}; an error's fields are text, numbers or tuples of them"
    )


def build(cls: type[BaseException]) -> BaseException:
    """Returns an instance whose fields are made up from the annotations of the constructor."""
    if "__init__" not in vars(cls):
        return cls()
    hints = typing.get_type_hints(cls.__init__)
    numbers = count(4001)
    return cls(**{name: sample(hint, name, numbers) for name, hint in hints.items() if name != "return"})


def leaves(value: object) -> typing.Iterator[str]:
    """Yields what a text must hold to mention a value."""
    if isinstance(value, tuple):
        for part in value:
            yield from leaves(part)
    else:
        yield f"{value:g}" if isinstance(value, float) else str(value)


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_error_survives_pickling(cls):
    error = build(cls)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is cls
    assert again.args == error.args
    assert str(again) == str(error)
    assert vars(again) == vars(error)


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_error_text_mentions_every_field(cls):
    error = build(cls)
    text = str(error)
    missing = {
        name: leaf for name, value in vars(error).items() for leaf in leaves(value) if leaf not in text
    }
    assert missing == {}


@pytest.mark.parametrize(
    "cls", [each for each in CLASSES if each is not errors.HopyardError], ids=lambda cls: cls.__name__
)
def test_error_is_also_the_built_in_that_a_caller_would_catch(cls):
    built_in = [
        base
        for base in cls.__mro__
        if base.__module__ == "builtins" and base not in (Exception, BaseException, object)
    ]
    assert issubclass(cls, errors.HopyardError)
    assert built_in


@pytest.mark.parametrize(
    "cls", [each for each in CLASSES if each is not errors.HopyardError], ids=lambda cls: cls.__name__
)
def test_error_makes_its_text_itself(cls):
    assert "__str__" in vars(cls)
    assert cls.__doc__


def test_all_public_error_classes_are_in_one_module(source):
    strays = [
        module.at(node)
        for module in source
        if module.path != "src/hopyard/errors.py"
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ClassDef)
        and not node.name.startswith("_")
        and any(
            isinstance(base, ast.Name) and base.id.endswith(("Error", "Exception")) for base in node.bases
        )
    ]
    assert strays == []
