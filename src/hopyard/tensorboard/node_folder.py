"""Where a training function writes its TensorBoard events."""

from __future__ import annotations

import os
from collections.abc import Mapping

from hopyard.errors import NotInsideRun
from hopyard.protocol.node_info import NodeInfo

VARIABLE = "TENSORBOARD_LOGDIR"


def logdir(environ: Mapping[str, str] = os.environ) -> str:
    """Returns the local folder for events and files to keep; its content reaches the project as it grows.

    A variable ``TENSORBOARD_LOGDIR`` decides, if there is one: programs that start their own processes
    point them elsewhere with it.

    Raises:
        NotInsideRun: This process is no node of a run.
    """
    if chosen := environ.get(VARIABLE):
        return chosen
    info = NodeInfo.from_env(environ)
    if info is None:
        raise NotInsideRun("the log folder of a node")
    return info.logdir
