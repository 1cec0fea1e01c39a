"""What a node runs, as bytes: a user's call pickled by value on the driver, or a clear refusal."""

from __future__ import annotations

import dis
import pickle
import re
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import cloudpickle

from hopyard.errors import NotPicklable
from hopyard.protocol.sources import WithSources, sources_of

LONGEST_CAUSE = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A function together with its arguments."""

    function: Callable[..., Any]
    positional: tuple[Any, ...] = ()
    keywords: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name under which a person knows the function."""
        return getattr(self.function, "__qualname__", None) or type(self.function).__qualname__

    def __call__(self) -> Any:
        """Calls the function."""
        return self.function(*self.positional, **self.keywords)


def dump(call: Callable[..., Any], *, user: Call) -> bytes:
    """Returns the call as bytes that an executor can load without the driver's files.

    Args:
        call: What the node is to run; it holds ``user`` inside.
        user: The user's own call, searched for the culprit if pickling fails.

    Raises:
        NotPicklable: Something that the function reaches cannot travel; the error names it.
    """
    with _by_value(user.function):
        try:
            return bytes(cloudpickle.dumps(WithSources(sources_of(_codes(user.function, seen=set())), call)))
        except Exception as error:
            # whatever an object's own __reduce__ raises is the user's to see, with the name of the variable
            culprit = next(_culprits(user), f"the function {user.name!r} itself")
            raise NotPicklable(culprit, user.name, _cause(error)) from error


def load(payload: bytes) -> Callable[[], Any]:
    """Returns the call that `dump` wrote."""
    call: Callable[[], Any] = pickle.loads(payload)  # noqa: S301  the driver's own bytes
    return call


@contextmanager
def _by_value(function: Callable[..., Any]) -> Iterator[None]:
    """While open, the function's module is pickled by value unless every executor can import it."""
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    if module is None or module.__name__ == "__main__" or _is_installed(module):
        yield
        return
    cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        cloudpickle.unregister_pickle_by_value(module)


def _is_installed(module: ModuleType) -> bool:
    """Tells whether a module comes from the standard library, site-packages or this package."""
    file = getattr(module, "__file__", None)
    if file is None:
        return True
    homes = {sysconfig.get_paths()[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")}
    homes.add(str(Path(__file__).parents[1]))
    return any(Path(file).is_relative_to(home) for home in homes)


def _codes(reached: object, seen: set[int]) -> Iterator[CodeType]:
    """Yields the code of a function, or of a class, and of those that it reaches, save what is installed."""
    reached = getattr(reached, "func", getattr(reached, "__func__", reached))
    module = sys.modules.get(getattr(reached, "__module__", None) or "")
    if id(reached) in seen or (module and module.__name__ != "__main__" and _is_installed(module)):
        return
    seen.add(id(reached))
    if isinstance(reached, FunctionType):
        yield reached.__code__
        for _, _, value in _reached(reached):
            yield from _codes(value, seen)
    elif isinstance(reached, type):
        for value in vars(reached).values():
            yield from _codes(value, seen)
    elif hasattr(reached, "__wrapped__"):  # an object around a function, made with functools.update_wrapper
        yield from _codes(reached.__wrapped__, seen)


def _cause(error: Exception) -> str:
    """Returns the first sentence of an error: Spark's go on for a paragraph."""
    text = f"{type(error).__name__}: {error}"
    return re.split(r"\.\s|\n", text, maxsplit=1)[0][:LONGEST_CAUSE].rstrip(". ")


def _culprits(call: Call) -> Iterator[str]:
    """Yields the names of those variables and arguments that cannot be pickled on their own."""
    if isinstance(call.function, partial):
        bound = call.function
        yield from _culprits(Call(function=bound.func, positional=bound.args, keywords=bound.keywords))
    for index, value in enumerate(call.positional):
        if not _travels(value):
            yield f"argument {index + 1}{_of_type(value)}"
    for name, value in call.keywords.items():
        if not _travels(value):
            yield f"argument {name!r}{_of_type(value)}"
    yield from _culprits_in(call.function, seen=set())


def _culprits_in(function: object, seen: set[int]) -> Iterator[str]:
    """Yields the variables at fault in a function, then in the functions that it calls."""
    function = getattr(function, "__func__", function)
    if not isinstance(
        function, FunctionType
    ):  # an object around a function, made with functools.update_wrapper
        function = getattr(function, "__wrapped__", function)
    if not isinstance(function, FunctionType) or id(function) in seen:
        return
    seen.add(id(function))
    inner: list[object] = []
    for kind, name, value in _reached(function):
        if _travels(value):
            continue
        if isinstance(value, FunctionType):
            inner.append(value)
            continue
        yield f"{kind} {name!r}{_of_type(value)}, used in {function.__qualname__!r}"
    for each in inner:
        yield from _culprits_in(each, seen)


def _reached(function: FunctionType) -> Iterator[tuple[str, str, object]]:
    """Yields what a function takes along: closure variables, globals and default values."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield "the closure variable", name, cell.cell_contents
    for name in sorted(_global_names(function.__code__)):
        if name in function.__globals__:
            yield "the global variable", name, function.__globals__[name]
    for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
        yield "the default value", repr(value)[:40], value


def _global_names(code: CodeType) -> set[str]:
    """Returns the global names that a code object or one nested in it reads."""
    names = {i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _global_names(constant)
    return names


def _travels(value: object) -> bool:
    try:
        cloudpickle.dumps(value)
    except Exception:  # noqa: BLE001  any failure of any object's pickling means the same here
        return False
    return True


def _of_type(value: object) -> str:
    kind = type(value)
    return f" (a {kind.__module__}.{kind.__qualname__})"
