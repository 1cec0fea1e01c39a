"""The way from a node's process to its supervisor: lines of JSON on a pipe.

A metric reported here costs microseconds and survives the death of the reporting process, whatever the
project's store is: the supervisor keeps it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from hopyard.errors import NotInsideRun
from hopyard.tracking import MetricPoint, codec

VARIABLE = "HOPYARD_CHANNEL"


def send_metric(point: MetricPoint, environ: Mapping[str, str] = os.environ) -> None:
    """Hands a metric point to the supervisor.

    Raises:
        NotInsideRun: The current process is not a node.
    """
    fd = environ.get(VARIABLE)
    if fd is None:
        raise NotInsideRun("report()")
    line = memoryview(codec.encode_line(point) + b"\n")
    while line:  # short lines go out in one piece, so that threads and forked processes do not mix theirs
        line = line[os.write(int(fd), line) :]


def read_metric(line: bytes) -> MetricPoint:
    """Returns the point that a line holds.

    Raises:
        CorruptRecord: The line is not one that `send_metric` wrote.
    """
    return codec.decode(MetricPoint, line, "the channel of a node")
