"""Which Spark Hopyard works with: pyspark 4.0 or newer, and sessions that are not of Spark Connect."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from hopyard.errors import MissingDependency, SparkUnusable

OLDEST_SPARK = (4, 0)
SPARK_BOUNDS = ">=4.0,<4.4"  # those that are tested
CONNECT_MODE = "SPARK_CONNECT_MODE_ENABLED"  # set by pyspark while a session of Spark Connect is there
_CONNECT = "pyspark.sql.connect."
_INSTALL = f"Install another one: pip install 'pyspark{SPARK_BOUNDS}'"
_NO_REMOTE = "Start the session without .remote(...), SPARK_REMOTE and spark.api.mode=connect, or use hopyard.local_spark()"


def require_pyspark(needed_for: str) -> None:
    """Makes sure that there is a pyspark that Hopyard works with, without importing it.

    Raises:
        MissingDependency: There is none.
        SparkUnusable: It is too old, or knows nothing but Spark Connect.
    """
    package = _package()
    if package is None and sys.modules.get("pyspark") is None:
        raise MissingDependency("pyspark", needed_for, "spark")
    version = pyspark_version()
    if version is not None:
        check_version(version)
    # one in a zip file, as executors have it, has no folders to look for
    if package is not None and package.is_dir() and not (package / "core").is_dir():
        raise SparkUnusable("the package pyspark-client has nothing but Spark Connect", _INSTALL)


def check_version(version: str) -> None:
    """Refuses a pyspark that is too old; one that is newer than those that are tested may work.

    Raises:
        SparkUnusable: It is too old.
    """
    numbers = tuple(map(int, re.findall(r"\d+", version)[:2]))
    if numbers < OLDEST_SPARK:
        oldest = ".".join(map(str, OLDEST_SPARK))
        raise SparkUnusable(f"pyspark {version} is older than {oldest}", _INSTALL)


def pyspark_version() -> str | None:
    """Returns the version of the pyspark that would be imported, whoever brought it; None if it does not tell."""
    package = _package()
    file = None if package is None else package / "version.py"
    if file is None or not file.is_file():
        return None
    match = re.search(r"""__version__[^'"]*['"]([^'"]+)""", file.read_text())
    return match[1] if match else None


def refuse_connect(thing: object) -> None:
    """Refuses a session, or a DataFrame of a session, that belongs to Spark Connect.

    Raises:
        SparkUnusable: It does.
    """
    if any(kind.__module__.startswith(_CONNECT) for kind in type(thing).__mro__):
        raise SparkUnusable(
            "its session uses Spark Connect, which cannot start training processes", _NO_REMOTE
        )


def refuse_connect_mode(environ: Mapping[str, str] = os.environ) -> None:
    """Refuses a process in which pyspark speaks Spark Connect.

    Raises:
        SparkUnusable: It does.
    """
    if CONNECT_MODE in environ:
        raise SparkUnusable(
            "this process has a session of Spark Connect", "Call .stop() on that session first"
        )


def _package() -> Path | None:
    spec = find_spec("pyspark")
    return None if spec is None or spec.origin is None else Path(spec.origin).parent
