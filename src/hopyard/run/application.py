"""The application that a run belongs to: Spark's, or this process where there is no Spark."""

from __future__ import annotations

import os
import socket
import time
import zlib
from pathlib import Path

from hopyard.backends.base import Backend


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
