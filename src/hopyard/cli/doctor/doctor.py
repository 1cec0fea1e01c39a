"""`hopyard doctor`: what of this machine is ready for Hopyard, and what to do about the rest."""

from __future__ import annotations

import typer

from hopyard.cli.output import console
from hopyard.cli.settings import Settings

STYLES = {"ok": "green", "absent": "dim", "problem": "bold red"}


def doctor(context: typer.Context) -> None:
    """Check this machine and the project's folder."""
    from hopyard.cli.doctor.checks import examine
    from hopyard.cli.doctor.finding import Verdict

    with console.busy("looking at this machine"):
        findings = list(examine(Settings.of(context).open_project))
    console.report([(each.verdict.value, each.subject, each.text) for each in findings], styles=STYLES)
    problems = sum(each.verdict is Verdict.PROBLEM for each in findings)
    console.line()
    if problems:
        console.line(f"{problems} to solve, see above.")
        raise typer.Exit(1)
    console.line("All good.")
