"""`hopyard tensorboard`: a TensorBoard in the foreground, on one run or on all of a project."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Annotated

import typer

from hopyard.cli.completers import complete_runs
from hopyard.cli.output import console
from hopyard.cli.settings import Settings

if TYPE_CHECKING:
    from hopyard.store import Project
    from hopyard.tensorboard import TensorBoardServer

POLL_SECONDS = 1.0


def tensorboard(
    context: typer.Context,
    *,
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="RUN|PATH",
            help="A run ('last', an id, the end of an id, or a name), or a folder.",
            show_default="all runs",
            autocompletion=complete_runs,
        ),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port to listen on.", show_default="a free one")
    ] = 0,
    host: Annotated[
        str, typer.Option(help="The address to listen on; 0.0.0.0 lets other machines connect.")
    ] = "127.0.0.1",
) -> None:
    """Show runs in TensorBoard, until Ctrl-C."""
    from hopyard.tensorboard import TensorBoardServer

    project = Settings.of(context).open_project()
    folder = folder_of(project, what)
    with console.busy("Starting TensorBoard"):
        server = TensorBoardServer(folder, project=project, host=host, port=port).start()
    with server:
        console.line(f"TensorBoard of {folder}")
        console.line(f"{server.url}   (Ctrl-C ends it)")
        wait_until_gone(server)
    console.error("TensorBoard ended by itself.")
    raise typer.Exit(1)


def folder_of(project: Project, what: str | None) -> str:
    """Returns the folder that a user means: all runs, a run, or a path.

    Raises:
        RunNotFound: It is neither a run nor a folder.
        AmbiguousRun: It may be several runs.
    """
    from hopyard.errors import RunNotFound
    from hopyard.tracking import find_run, run_paths

    if what is None:
        return project.url(project.layout.logs)
    if "://" in what or what.startswith(("/", "~", ".")):
        return what if "://" in what else os.path.abspath(os.path.expanduser(what))
    try:
        run = find_run(project, what).id
    except RunNotFound:
        if project.is_dir(what):
            return project.url(what)
        raise
    return project.url(run_paths(project, run).folder)


def wait_until_gone(server: TensorBoardServer) -> None:
    """Waits for the end of the server; Ctrl-C ends the waiting."""
    never = threading.Event()
    while server.is_running:
        never.wait(POLL_SECONDS)
