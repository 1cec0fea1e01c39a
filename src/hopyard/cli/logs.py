"""`hopyard logs`: what the nodes of a run printed, afterwards or as it happens."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from hopyard.cli.completers import complete_runs
from hopyard.cli.output import console
from hopyard.cli.runs import first_line
from hopyard.cli.settings import Settings
from hopyard.cli.trial_names import find_run_or_trial, trial_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from hopyard.store import Project
    from hopyard.tracking import NodeLine, RunReader, RunRecord

# Neighbours differ, and none is the red of errors.
COLOURS = ("cyan", "green", "yellow", "magenta", "blue", "bright_cyan", "bright_green", "bright_magenta")


def logs(
    context: typer.Context,
    *,
    run: Annotated[
        str,
        typer.Argument(
            metavar="RUN",
            help="'last', an id, the end of an id, or a name; for a trial, add /N.",
            autocompletion=complete_runs,
        ),
    ] = "last",
    trial: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Print the log of trial N of a study.")
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Wait for more lines until the run ends.")
    ] = False,
    node: Annotated[
        list[int] | None,
        typer.Option(
            min=0,
            metavar="N",
            help="Print the log of the node with rank N; may be repeated.",
            show_default="0",
        ),
    ] = None,
    everyone: Annotated[bool, typer.Option("--all", help="Print the logs of all nodes.")] = False,
    tail: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Print only the last N lines of each node.")
    ] = None,
    attempt: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="K",
            show_default="all",
            help="Print only what the nodes wrote in attempt K; 0 is the first.",
        ),
    ] = None,
) -> None:
    """Print what the nodes of a run printed, or a trial."""
    settings = Settings.of(context)
    project = settings.open_project()
    reader = find_run_or_trial(project, run if trial is None else trial_text(project, run, trial))
    record = reader.record()
    ranks = range(record.nodes) if everyone else tuple(dict.fromkeys(node or [0]))
    check_there(record, ranks, attempt)
    if follow:
        lines = reader.follow_nodes(ranks, attempt=attempt, tail=tail)
    else:
        lines = written(reader, ranks, attempt=attempt, tail=tail)
    count: Counter[int] = Counter()
    console.stream(labelled(lines, labels(record, ranks), count))
    silent = [rank for rank in ranks if not count[rank]]
    if silent and tail != 0:
        console.note(f"{nodes_text(silent)} of run {reader.id} printed nothing.")
        if is_study(project, reader):
            hint = settings.command("logs", run, "--trial", "N")
            console.note(f"It is a study: `{hint}` prints the log of its trial N.")
    if follow:
        console.note(end_text(reader, attempt))


def is_study(project: Project, reader: RunReader) -> bool:
    """Whether a run is a study, whose trials print and not the run."""
    from hopyard.tracking import run_paths

    return project.exists(run_paths(project, reader.id).study)


def check_there(record: RunRecord, ranks: Iterable[int], attempt: int | None) -> None:
    """Checks that a run has these nodes and this attempt.

    Raises:
        BadParameter: It has not.
    """
    for rank in ranks:
        check_number(record, "node", rank, record.nodes)
    if attempt is not None:
        check_number(record, "attempt", attempt, record.attempts)


def check_number(record: RunRecord, what: str, number: int, count: int) -> None:
    """Checks that a number is one of those from 0 that a run has.

    Raises:
        BadParameter: It is not.
    """
    if number >= count:
        known = f"only {what} 0" if count == 1 else f"{what}s 0 to {count - 1}"
        raise typer.BadParameter(
            f"there is no {what} {number}: run {record.id} has {known}.", param_hint=f"--{what}"
        )


def written(
    reader: RunReader, ranks: Iterable[int], *, attempt: int | None, tail: int | None
) -> Iterator[NodeLine]:
    """Yields what nodes have printed so far, one after the other."""
    from hopyard.tracking import NodeLine

    for rank in ranks:
        for text in reader.log(rank, attempt=attempt, tail=tail):
            yield NodeLine(rank=rank, text=text)


def labels(record: RunRecord, ranks: Sequence[int]) -> Mapping[int, str]:
    """Returns what stands before the lines of each node: nothing if there is but one, else role and rank."""
    if len(ranks) == 1:
        return {ranks[0]: ""}
    roles = record.roles or ("node",) * record.nodes
    return {rank: painted(f"[{roles[rank]} {rank}] ", COLOURS[rank % len(COLOURS)]) for rank in ranks}


def painted(text: str, colour: str) -> str:
    """Returns the text as the terminal shows it in a colour; just the text where there is no terminal."""
    terminal = console.terminal()
    if terminal is None:
        return text
    with terminal.capture() as capture:
        terminal.print(text, style=colour, end="")
    return capture.get()


def labelled(lines: Iterable[NodeLine], before: Mapping[int, str], count: Counter[int]) -> Iterator[str]:
    """Yields lines with their node's label before them, and counts those of each node."""
    on_terminal = console.terminal() is not None
    for line in lines:
        count[line.rank] += 1
        label = before[line.rank]
        # A progress bar goes back to the start of the line, where the label is.
        text = line.text.replace("\r", f"\r{label}") if on_terminal else line.text
        yield f"{label}{text}"


def nodes_text(ranks: Sequence[int]) -> str:
    """Returns how to speak of some nodes."""
    return f"Node{'s' * (len(ranks) > 1)} {', '.join(map(str, ranks))}"


def end_text(reader: RunReader, attempt: int | None) -> str:
    """Returns why there is nothing more to follow."""
    record = reader.record()
    if attempt is not None and attempt < len(record.restarts):
        return f"Attempt {attempt} of run {reader.id} ended: {first_line(record.restarts[attempt])}"
    return f"Run {reader.id} is {record.state_at(time.time()).value}."
