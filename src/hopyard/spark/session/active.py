"""The Spark session that is there already."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from hopyard.environment import NODE_VARIABLE
from hopyard.errors import CalledOnNode, NoActiveSpark, SparkUnusable
from hopyard.spark.session.supported import refuse_connect, refuse_connect_mode, require_pyspark

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession


def active_spark() -> SparkSession | None:
    """Returns the session of this process, or None; never starts one.

    A program that has not imported pyspark has no session, so pyspark is not imported to find out.
    """
    if "pyspark.sql" not in sys.modules:
        return None
    from pyspark import SparkContext
    from pyspark.errors import PySparkRuntimeError
    from pyspark.sql import SparkSession

    if SparkContext._active_spark_context is None:  # noqa: SLF001 (no public way to look without starting)
        return None
    try:
        return SparkSession.active()
    except PySparkRuntimeError:  # a context without a session
        return None


def active_context() -> SparkContext | None:
    """Returns the Spark context of this process, which may have no session yet, or None; never starts one."""
    if "pyspark" not in sys.modules:
        return None
    from pyspark import SparkContext

    active: SparkContext | None = SparkContext._active_spark_context  # noqa: SLF001  as above
    return active


def refuse_node() -> None:
    """Refuses the process of a node.

    Raises:
        CalledOnNode: It is one.
    """
    if NODE_VARIABLE in os.environ:
        raise CalledOnNode


def usable_context(spark: SparkSession | SparkContext | None, needed_for: str) -> SparkContext:
    """Returns the context of a session, or the active one, that can run nodes.

    Args:
        spark: A session or its context; None for the active context, whether it has a session or not.
        needed_for: What needs it, for the error that says that pyspark is missing.

    Raises:
        MissingDependency: pyspark is not installed.
        NoActiveSpark: None is given, and none is active.
        CalledOnNode: None is given, and this process is a node of a run.
        SparkUnusable: It is one of Spark Connect, was stopped, or is no session; or pyspark is too old.
    """
    if spark is None:
        refuse_node()
    require_pyspark(needed_for)
    session: object = spark if spark is not None else active_context()
    if session is None:
        refuse_connect_mode()
        raise NoActiveSpark
    refuse_connect(session)
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    context = session.sparkContext if isinstance(session, SparkSession) else session
    if not isinstance(context, SparkContext):
        raise SparkUnusable(f"spark={session!r} is no session", "Give a SparkSession")
    if context._jsc is None:  # noqa: SLF001  what pyspark leaves of a context that was stopped
        raise SparkUnusable("its session was stopped", "Start another one")
    return context
