"""Which backend a run uses, the one asked for or the active Spark session, and the application that the run belongs to."""

from __future__ import annotations

import os
import socket
import time
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from hopyard.backends.base import Backend
from hopyard.backends.inline import InlineBackend
from hopyard.backends.processes import ProcessesBackend
from hopyard.errors import UnknownBackend
from hopyard.spark.session.active import usable_context

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession


def resolve(
    backend: str | Backend | None, spark: SparkSession | SparkContext | None, *, what: str = "a run"
) -> Backend:
    """Returns the backend to use for something, which errors call `what`.

    Raises:
        NoActiveSpark: Spark is to be used and there is no session.
        SparkUnusable: It is to be used and cannot be.
        UnknownBackend: ``backend`` is a name that is none.
    """
    if backend is None or backend == "spark":
        return _spark_backend(spark, what)
    if backend == "processes":
        return ProcessesBackend()
    if backend == "inline":
        return InlineBackend()
    if isinstance(backend, str) or not hasattr(backend, "application"):
        raise UnknownBackend(str(backend))
    return backend


def _spark_backend(spark: SparkSession | SparkContext | None, what: str) -> Backend:
    context = usable_context(spark, f"{what} without backend='processes'")
    from hopyard.backends.spark import SparkBackend

    return SparkBackend(context)


def application_id(backend: Backend) -> str:
    """Returns the id under which runs of this driver are grouped."""
    return backend.application or process_application_id()


def process_application_id() -> str:
    """Returns an id that stays the same for the life of this process and tells when it began."""
    began = time.strftime("%Y%m%d%H%M%S", time.gmtime(_process_start()))
    host = zlib.crc32(socket.gethostname().encode())
    return f"process-{began}-{host:08x}-{os.getpid()}"


def _process_start() -> float:
    """Returns when this process began, in seconds since the epoch."""
    # the folder of a process in /proc is as old as the process
    return Path(f"/proc/{os.getpid()}").stat().st_ctime
