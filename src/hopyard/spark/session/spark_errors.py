"""Spark's errors, kept readable when their JVM ends.

An error of pyspark asks the JVM for its text each time it is printed. Most are printed after `with local_spark()` has
ended the JVM.
"""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable
from typing import Any

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors.exceptions.captured import CapturedException

LOG = logging.getLogger(__name__)
_ASKED = ("__str__", "getCondition", "getMessageParameters", "getSqlState", "getMessage")


def keep_texts() -> None:
    """Lets all Spark errors of this process hold their texts; call it while the JVM still answers."""
    # An error may be on its way, the cause of another one, or in a variable or a future: the collector knows them all.
    for each in gc.get_objects():
        if issubclass(type(each), (Py4JJavaError, CapturedException)):
            keep_text(each)


def keep_text(error: Py4JJavaError | CapturedException) -> None:
    """Lets a Spark error hold what it would ask the JVM for.

    Its class becomes a subclass of the same name, since Python looks for ``__str__`` nowhere but in classes.
    """
    kind: Any = type(error)
    if "is_kept" in vars(kind):
        return
    answers = {name: _answer(error, name) for name in _ASKED if hasattr(kind, name)}
    if answers["__str__"] is None:
        answers["__str__"] = f"{_words(error)} (Spark's JVM had ended, and with it what else it knew)"
    same = {name: getattr(kind, name) for name in ("__module__", "__qualname__", "__doc__")}
    methods = {name: _returning(answer) for name, answer in answers.items()}
    error.__class__ = type(kind.__name__, (kind,), {**same, **methods, "is_kept": True})


def _answer(error: object, method: str) -> object:
    try:
        return getattr(error, method)()
    except (Py4JError, OSError, AssertionError) as lost:  # the last is pyspark's word for no JVM
        LOG.debug("%s() of a %s has no answer: %r", method, type(error).__name__, lost)
        return None


def _returning(answer: object) -> Callable[[object], object]:
    return lambda _: answer


def _words(error: Any) -> str:
    """Returns what Python itself knows of an error."""
    known = error.errmsg if isinstance(error, Py4JJavaError) else error._desc  # noqa: SLF001
    return str(known).strip()
