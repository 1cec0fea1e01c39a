"""`hopyard logs`: what a node of a run printed, afterwards or as it happens."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from hopyard.cli import console
from hopyard.cli.settings import Settings


def logs(
    context: typer.Context,
    *,
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="'last', an id, the end of an id, or a name.")
    ] = "last",
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the run ends.")] = False,
    node: Annotated[int, typer.Option(min=0, metavar="N", help="Which node's log: its rank.")] = 0,
) -> None:
    """Print the log of a run."""
    from hopyard.tracking import find_run

    reader = find_run(Settings.of(context).open_project(), run)
    nodes = reader.record().nodes
    if node >= nodes:
        known = "only node 0" if nodes == 1 else f"nodes 0 to {nodes - 1}"
        raise typer.BadParameter(f"run {reader.id} has {known}", param_hint="--node")
    lines = reader.follow(node) if follow else reader.log(node)
    if not console.stream(lines):
        console.note(f"Node {node} of run {reader.id} has printed nothing.")
    if follow:
        console.note(f"Run {reader.id} is {reader.state(time.time()).value}.")
