"""`launch`: runs a function on nodes and returns what came of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

from hopyard.run.call import check_function, users_part
from hopyard.run.cluster import Cluster
from hopyard.run.options import RunOptions, check_names, run_options
from hopyard.run.result import RunResult
from hopyard.run.signature import ShowsOptions


@ShowsOptions(RunOptions, run_options)
def launch(
    fn: Callable[..., Any], args: object = None, nodes: int = 1, **options: Unpack[RunOptions]
) -> RunResult:
    """Runs a function on one or more nodes and waits for the end.

    Args:
        fn: The training function. It may import what it needs inside; a parameter named ``ctx``
            receives the `NodeContext`.
        args: Its arguments: a mapping (by name) or a tuple or list (by position).
        nodes: How many processes run it, each with its own rank; parameter servers and evaluator count.
        options: ``ps``, ``evaluator``, ``gpus_per_node``, ``max_restarts`` and many more: see `RunOptions`.

    Returns:
        The values that the nodes returned, and where log, metrics and files are.

    Raises:
        NotPicklable: The function cannot travel; the error names the variable at fault.
        BadArguments: The arguments do not fit the function.
        InvalidPlan: The numbers of nodes, or seconds, make no sense.
        NotEnoughSlots: This Spark has no room for so many nodes.
        MissingDependency: ``tensorboard`` was asked for and is not installed.
        NodesMissing: Not all nodes arrived in time.
        NodeFailed: A node failed; the error has its traceback and last lines of output.
    """
    check_names(options, fn, call="launch")
    check_function("launch", fn)
    try:
        with Cluster(fn, args, nodes, **options) as cluster:
            return cluster.wait()
    except KeyboardInterrupt as interrupt:
        # where we waited is noise, and the note says what is kept; where an inline function was is not
        raise interrupt.with_traceback(users_part(interrupt.__traceback__)) from None
