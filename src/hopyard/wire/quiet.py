"""gRPC without its lines on stderr."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

_VARIABLE = "GRPC_VERBOSITY"


@contextmanager
def quiet_grpc() -> Iterator[None]:
    """Lets gRPC start silent inside this context, unless GRPC_VERBOSITY says otherwise.

    gRPC writes a line to stderr for every malformed request, so a port scanner could fill a log; what
    matters reaches callers as errors. The variable is read once, when the gRPC inside pyarrow starts
    with the first server or client of the process, and is taken back at the end so that child processes
    and other libraries keep their own setting.
    """
    if _VARIABLE in os.environ:
        yield
        return
    os.environ[_VARIABLE] = "NONE"
    try:
        yield
    finally:
        # another thread may have been here at the same time
        os.environ.pop(_VARIABLE, None)
