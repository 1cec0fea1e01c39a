"""The options of `hopyard search`, each with its help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hopyard.cli.demo.demo import Where

Function = Annotated[
    str,
    typer.Argument(
        metavar="FILE.py:FUNCTION", help="What to try: its arguments are the parameters, by name."
    ),
]
SpaceFile = Annotated[
    Path,
    typer.Option("--space", metavar="FILE", help="What each parameter may be, as YAML or JSON."),
]
Sampler = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="What chooses the next trial: tpe, random, grid, gp, cmaes, qmc, nsga2, de."
    ),
]
Trials = Annotated[
    int | None,
    typer.Option(
        min=1, metavar="N", help="How many trials; needed unless there is --timeout or --sampler grid."
    ),
]
Direction = Annotated[
    list[str] | None,
    typer.Option(
        metavar="max|min",
        help="Whether large or small values are better; once for each metric.",
        show_default="max",
    ),
]
Metric = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="What is compared, if the function returns a dict; may be repeated."),
]
Parallel = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="How many trials run at the same time.",
        show_default="one for each processor, or slot of --master",
    ),
]
Pruner = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="What stops bad trials early: median, asha, hyperband, patience."),
]
Name = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="A name for the study.", show_default="that of the function"),
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Go on with the study of this name; ended trials stay.")
]
Seed = Annotated[int | None, typer.Option(metavar="N", help="Makes the choice of parameters repeatable.")]
Timeout = Annotated[
    float | None,
    typer.Option(metavar="SECONDS", help="No new trial starts after so many seconds.", show_default="never"),
]
TrialTimeout = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS", help="A trial that takes longer is stopped and fails.", show_default="never"
    ),
]
Retries = Annotated[
    int, typer.Option(min=0, metavar="N", help="How often a trial that failed is tried again.")
]
Isolate = Annotated[bool, typer.Option("--isolate", help="Give each trial a fresh process.")]
Backend = Annotated[Where, typer.Option(help="Run trials on Spark, or without.")]
Master = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Spark's master.", show_default="an embedded Spark on this machine"),
]
