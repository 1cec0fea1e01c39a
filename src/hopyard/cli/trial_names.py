"""Trials by their number, or by their parameters as `hopyard trials` shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from hopyard.cli.trials import shown_params

if TYPE_CHECKING:
    from hopyard.search.study.study import Study
    from hopyard.store import Project
    from hopyard.tracking import RunReader


def find_run_or_trial(project: Project, text: str) -> RunReader:
    """Returns the run or the trial that a user means; after a study and a slash a number or parameters may follow.

    Raises:
        RunNotFound: Nothing answers to the text.
        AmbiguousRun: Several runs do.
        BadParameter: The study has no such trial.
    """
    from hopyard.errors import RunNotFound
    from hopyard.search.study.study import Study
    from hopyard.tracking import find_run

    try:
        return find_run(project, text)
    except RunNotFound:
        study, _, trial = text.rpartition("/")
        if not study or not (trial.isdecimal() or "=" in trial):
            raise
        try:
            found = Study.load(study, project=project)
        except RunNotFound:
            found = None
        if found is None:
            raise
    if trial.isdecimal():
        return find_run(project, id_of_trial(found, int(trial), hint="RUN"))
    for each in found.trials:
        if shown_params(each) == trial:
            return find_run(project, f"{found.run_id}/{each.folder}")
    raise RunNotFound(text, project.path)


def trial_text(project: Project, study: str, number: int) -> str:
    """Returns the id of a trial of a study.

    Raises:
        BadParameter: The study has no such trial.
    """
    from hopyard.search.study.study import Study

    return id_of_trial(Study.load(study, project=project), number, hint="--trial")


def id_of_trial(study: Study, number: int, *, hint: str) -> str:
    """Returns the id of a trial.

    Raises:
        BadParameter: The study has no such trial; `hint` is what the user gave it in.
    """
    if number >= len(study.trials):
        raise typer.BadParameter(
            f"there is no trial {number}: study {study.run_id} has {len(study.trials)} trials, from 0.",
            param_hint=hint,
        )
    return f"{study.run_id}/{study.trials[number].folder}"
