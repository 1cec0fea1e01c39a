"""Horovod programs; ``from hops import allreduce``."""

from __future__ import annotations

from typing import Any, NoReturn

from hops.calls import takes_spark
from hopyard.errors import NotOffered


@takes_spark
def launch(notebook: str, local_logdir: bool = False, *, spark: Any = None) -> NoReturn:
    """Raises: notebooks are not run by mpirun here."""
    instead = "put its code into a function and call experiment.collective_all_reduce(function)"
    raise NotOffered(f"allreduce.launch({notebook!r})", f"a notebook is not run under Horovod; {instead}")
