"""TensorBoard from inside and outside of a training function; ``from hops import tensorboard``."""

from __future__ import annotations

from typing import NoReturn

from hops import hdfs
from hops.calls import takes_spark
from hops.paths import place
from hopyard.errors import NotOffered
from hopyard.tensorboard import TensorBoardServer
from hopyard.tensorboard import logdir as node_logdir
from hopyard.tensorboard import visualize as show


def logdir() -> str:
    """Returns the local folder for events, checkpoints and other files to keep, with a slash at its end.

    What is in it is copied to the project.

    Raises:
        NotInsideRun: Called outside of a training function.
    """
    return f"{node_logdir()}/"


@takes_spark
def visualize(hdfs_root_logdir: str, *, spark: object = None) -> TensorBoardServer:
    """Starts a TensorBoard over a run or a folder of runs, says where it is, and returns it.

    Call it with or without the Spark session in front. The server runs in the driver until the program
    ends. That needs no list of servers: each is held by a thread of its own.

    Raises:
        PathNotFound: There is no such folder.
    """
    del spark  # the server does not need Spark: it runs beside the driver and reads the project
    server = show(place(hdfs_root_logdir).url)
    hdfs.log(f"TensorBoard of {hdfs_root_logdir}: {server.url}")
    return server


def interactive_debugger() -> NoReturn:
    """Raises: TensorFlow 2 has no debugger of this kind."""
    raise _no_debugger("tensorboard.interactive_debugger()")


def non_interactive_debugger() -> NoReturn:
    """Raises: TensorFlow 2 has no debugger of this kind."""
    raise _no_debugger("tensorboard.non_interactive_debugger()")


def _no_debugger(function: str) -> NotOffered:
    instead = "call tf.debugging.experimental.enable_dump_debug_info(tensorboard.logdir()) instead"
    return NotOffered(function, f"TensorFlow 2 has no session to debug; {instead}")
