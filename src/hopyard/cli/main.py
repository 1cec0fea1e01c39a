"""The ``hopyard`` command: its global options, its subcommands, and the edge where errors become text."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from io import TextIOWrapper
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import hopyard
from hopyard.cli.compare import compare
from hopyard.cli.completion import OPTIONS as COMPLETION_OPTIONS
from hopyard.cli.completion import PROGRAM, VARIABLE
from hopyard.cli.demo.demo import demo
from hopyard.cli.doctor.doctor import doctor
from hopyard.cli.examples import examples_of
from hopyard.cli.global_options import globals_first
from hopyard.cli.logs import logs
from hopyard.cli.output import console
from hopyard.cli.runs import runs
from hopyard.cli.search.search import search
from hopyard.cli.settings import Settings
from hopyard.cli.studies import studies
from hopyard.cli.tensorboard import tensorboard
from hopyard.cli.trash import restore, rm, trash
from hopyard.cli.trials import trials
from hopyard.errors import HopyardError

WORDS = "hopyard.words"  # where the context keeps what the user typed
VALIDATION = (
    (re.compile(r"Value error, (.*)"), r"\1"),
    (re.compile(r"Input should be greater than or equal to (\S+)"), r"it is below \1; give at least \1."),
    (re.compile(r"Input should be less than or equal to (\S+)"), r"it is above \1; give at most \1."),
    (re.compile(r"Input should be a valid integer.*"), "it is no whole number."),
    (re.compile(r"Input should be a valid number.*"), "it is no number."),
)
COMMANDS = (
    demo,
    doctor,
    runs,
    logs,
    compare,
    tensorboard,
    search,
    studies,
    trials,
    rm,
    restore,
    trash,
)


def main() -> None:
    """Runs the command and ends the process with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # logs hold what the terminal's encoding may not: shown escaped, not refused
            stream.reconfigure(errors="backslashreplace")
    # what a shell completes is the name of the program, however it was called now
    name = PROGRAM if is_about_completion(sys.argv, os.environ) else program_name(sys.argv[0])
    build_app()(prog_name=name, complete_var=VARIABLE)


def is_about_completion(arguments: Sequence[str], environ: Mapping[str, str]) -> bool:
    """Tells whether a shell asks what to offer, or is to be told how to ask."""
    return VARIABLE in environ or any(word.partition("=")[0] in COMPLETION_OPTIONS for word in arguments)


def build_app() -> typer.Typer:
    """Returns the command with all its subcommands."""
    app = typer.Typer(
        cls=Hopyard,
        no_args_is_help=True,
        rich_markup_mode=None,  # plain help and usage errors: they are piped and searched, too
        pretty_exceptions_enable=False,  # an unexpected exception keeps its plain traceback
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(global_options)
    for command in COMMANDS:
        app.command(epilog=examples_of(command.__name__))(command)
    return app


def program_name(argv0: str) -> str:
    """Returns how the user can call this program again: by its name where the shell finds it so."""
    name = os.path.basename(argv0)
    if name == "__main__.py":
        return "python -m hopyard"
    found = shutil.which(name)
    # a program that the shell found in PATH sees its full path here, as if that had been typed
    return name if found is not None and os.path.samefile(found, argv0) else argv0


class Hopyard(TyperGroup):
    """The command as a whole: global options anywhere, and errors as one message with exit code 1."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Reads the global options."""
        ctx.meta[WORDS] = tuple(args)
        return super().parse_args(ctx, globals_first(args))

    def invoke(self, ctx: Any) -> Any:
        """Runs the subcommand."""
        try:
            result = super().invoke(ctx)
            # a pipe that was closed at the other end shows here, not in the interpreter's last flush
            sys.stdout.flush()
        except typer.BadParameter as error:
            error.message = plain(error.message)
            raise
        except (HopyardError, OSError) as error:
            # what the system refuses is the user's to see to, like any error of ours; a closed pipe is nobody's
            if ctx.params["debug"] or isinstance(error, BrokenPipeError):
                raise
            console.error(str(error))
            raise typer.Exit(1) from error
        return result


def plain(text: str) -> str:
    """Returns what is wrong with an option in our words, where it is told in those of the library that checks it."""
    for pattern, words in VALIDATION:
        if (match := pattern.match(text)) is not None:
            return match.expand(words)
    return text


def show_version(wanted: bool) -> None:  # noqa: FBT001  typer calls it with the option's value
    """Prints the version and ends, if asked to."""
    if wanted:
        console.line(f"hopyard {hopyard.__version__}")
        raise typer.Exit


def global_options(
    context: typer.Context,
    *,
    root: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            show_default="HOPYARD_ROOT, else ~/.hopyard",
            help="Folder of all projects: a path, hdfs://… or s3://…",
        ),
    ] = None,
    project: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", show_default="HOPYARD_PROJECT, else your user name", help="Name of the project."
        ),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show the whole traceback of an error.")] = False,  # noqa: ARG001  read by the edge
    version: Annotated[  # noqa: ARG001  done by its callback
        bool,
        typer.Option("--version", is_eager=True, callback=show_version, help="Show the version and exit."),
    ] = False,
) -> None:
    """Deep learning on Apache Spark: try it, search parameters, and look at what was run.

    `hopyard COMMAND --help` shows the options of a command, with examples. The options below may stand before or after
    a command.
    """
    context.obj = Settings(
        program=context.command_path, root=root, project=project, words=context.meta[WORDS]
    )
