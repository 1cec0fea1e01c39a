"""What an error of Spark says to a user: one sentence where the cause is known, else what of it says something."""

from __future__ import annotations

import re
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark import SparkContext

LONGEST_CAUSE = 2000
_MISSING_MODULE = re.compile(r"ModuleNotFoundError: No module named '([^']+)'")
_OTHER_VERSION = re.compile(r"different version: (?P<there>[\d.]+) than that in driver:? (?P<here>[\d.]+\d)")
_NO_PROGRAM = re.compile(r'Cannot run program "([^"]+)"')
_OUT_OF_REACH = re.compile(r"^(?:hopyard\.errors\.)?DriverOutOfReach: (?P<text>.+)$", re.MULTILINE)
_ANOTHER_PYTHON = (
    "Let PYSPARK_PYTHON, or spark.pyspark.python, name a Python that has what this one has, before the session starts; "
    "or send an environment along with spark.archives."
)


def known_cause(error: Any, context: SparkContext) -> str | None:
    """Returns what is wrong with the executors, and the remedy, if that is known; Java's stack adds nothing to it.

    Args:
        error: What an action of Spark raised.
        context: The Spark application.
    """
    text = _text(error)
    python = getattr(context, "pythonExec", "python3")
    if missing := _MISSING_MODULE.search(text):
        return f"the executors' Python ({python}) has no module {missing[1]!r}. {_ANOTHER_PYTHON}"
    if other := _OTHER_VERSION.search(text):
        versions = f"is {other['there']}, and that of the driver {other['here']}"
        return f"the executors' Python ({python}) {versions}. {_ANOTHER_PYTHON}"
    if program := _NO_PROGRAM.search(text):
        return f"the executors have no Python {program[1]!r}. {_ANOTHER_PYTHON}"
    unreached = _OUT_OF_REACH.findall(text)
    return str(unreached[-1]) if unreached else None


def is_of_spark(module: str | None) -> bool:
    """Tells whether a module is one of Spark's, or of its way to Java."""
    return (module or "").partition(".")[0] in ("py4j", "pyspark")


def before_spark(traceback: TracebackType | None) -> TracebackType | None:
    """Returns the part of a traceback that leads to a call of Spark, without the way through Spark."""
    if traceback is None or is_of_spark(traceback.tb_frame.f_globals.get("__name__")):
        return None
    return TracebackType(
        before_spark(traceback.tb_next), traceback.tb_frame, traceback.tb_lasti, traceback.tb_lineno
    )


def summary(error: Any) -> str:
    """Returns what of a Spark error says something."""
    return _text(error)[:LONGEST_CAUSE]


def _text(error: Any) -> str:
    java = getattr(error, "java_exception", None)
    said = java.getMessage() if java is not None else error
    return str(said).split("\nDriver stacktrace:")[0].strip()
