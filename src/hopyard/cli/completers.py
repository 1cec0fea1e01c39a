"""What typer asks after the Tab key."""

from __future__ import annotations

import typer

from hopyard.cli.completion import REMOVED, RUNS, STUDIES, offered


def complete_runs(context: typer.Context, incomplete: str) -> list[str]:
    """Returns names and ids of runs that begin with what was typed."""
    return _offered(context, RUNS, incomplete)


def complete_studies(context: typer.Context, incomplete: str) -> list[str]:
    """Returns names and ids of studies that begin with what was typed."""
    return _offered(context, STUDIES, incomplete)


def complete_removed(context: typer.Context, incomplete: str) -> list[str]:
    """Returns names and ids of runs in the trash that begin with what was typed."""
    return _offered(context, REMOVED, incomplete)


def _offered(context: typer.Context, what: str, incomplete: str) -> list[str]:
    options = context.find_root().params
    return offered(options.get("root"), options.get("project"), what, incomplete)
