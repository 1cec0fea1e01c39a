"""Every error class crosses a process border unchanged and says what it knows."""

from __future__ import annotations

import ast
import copy
import importlib
import inspect
import pickle
import pkgutil
import types
import typing
from itertools import count

import pytest

from hopyard import errors
from hopyard.errors import HopyardError

pytestmark = pytest.mark.unit

CLASSES = [
    member
    for _, member in inspect.getmembers(errors, inspect.isclass)
    if issubclass(member, BaseException) and member.__module__ == errors.__name__
]
MODULES = [
    importlib.import_module(f"{errors.__name__}.{found.name}")
    for found in pkgutil.iter_modules(errors.__path__)
]

every_class = pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
every_class_but_the_root = pytest.mark.parametrize(
    "cls", [each for each in CLASSES if each is not HopyardError], ids=lambda cls: cls.__name__
)


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


def fields(cls: type[BaseException]) -> dict[str, object]:
    """Returns values for all fields of a class, made up from the annotations."""
    numbers = count(4001)
    return {name: sample(hint, name, numbers) for name, hint in typing.get_type_hints(cls).items()}


def build(cls: type[BaseException]) -> BaseException:
    return cls(**fields(cls))


def leaves(value: object) -> typing.Iterator[str]:
    """Yields what a text must hold to mention a value."""
    if isinstance(value, tuple):
        for part in value:
            yield from leaves(part)
    else:
        yield f"{value:g}" if isinstance(value, float) else str(value)


@every_class
@pytest.mark.parametrize(
    "remade", [lambda error: pickle.loads(pickle.dumps(error)), copy.copy, copy.deepcopy]
)
def test_error_survives_pickling_and_copying(cls, remade):
    error = build(cls)
    again = remade(error)
    assert type(again) is cls
    assert again.args == error.args
    assert str(again) == str(error)
    assert vars(again) == vars(error)


@every_class
def test_error_text_mentions_every_field(cls):
    error = build(cls)
    text = str(error)
    missing = {
        name: leaf for name in fields(cls) for leaf in leaves(getattr(error, name)) if leaf not in text
    }
    assert missing == {}


@every_class
def test_fields_are_the_attributes_and_the_arguments(cls):
    given = fields(cls)
    error = cls(*given.values())
    assert error.args == tuple(given.values())
    assert {name: getattr(error, name) for name in given} == given
    assert vars(error) == vars(cls(**given))


@every_class
def test_wrong_arguments_are_refused(cls):
    given = fields(cls)
    with pytest.raises(TypeError):
        cls(*given.values(), "one too many")
    with pytest.raises(TypeError):
        cls(**given, no_such_field=1)
    for name in given:
        if not hasattr(cls, name):  # no default
            with pytest.raises(TypeError):
                cls(**{other: value for other, value in given.items() if other != name})


@pytest.mark.parametrize(
    "cls", [each for each in CLASSES if issubclass(each, OSError)], ids=lambda cls: cls.__name__
)
def test_no_field_of_an_os_error_passes_for_its_number(cls):
    error = build(cls)
    assert error.errno is None
    assert error.strerror is None
    assert error.filename is None


@every_class_but_the_root
def test_error_is_also_the_built_in_that_a_caller_would_catch(cls):
    built_in = [
        base
        for base in cls.__mro__
        if base.__module__ == "builtins" and base not in (Exception, BaseException, object)
    ]
    assert issubclass(cls, HopyardError)
    assert built_in


@every_class_but_the_root
def test_error_makes_its_text_itself(cls):
    has_template = "text" in vars(cls)
    assert has_template != ("__str__" in vars(cls))
    assert not has_template or cls.__str__ is HopyardError.__str__
    assert cls.__doc__


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_error_class_is_exported_by_the_package(module):
    named = inspect.getmembers(
        module, lambda member: inspect.isclass(member) and issubclass(member, BaseException)
    )
    assert named
    assert [name for name, cls in named if getattr(errors, name, None) is not cls] == []


def test_all_public_error_classes_are_in_one_package(source):
    names = {cls.__name__ for cls in CLASSES}
    strays = [
        module.at(node)
        for module in source
        if not module.path.startswith("src/hopyard/errors/")
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ClassDef)
        and not node.name.startswith("_")
        and any(
            isinstance(base, ast.Name) and (base.id.endswith(("Error", "Exception")) or base.id in names)
            for base in node.bases
        )
    ]
    assert strays == []
