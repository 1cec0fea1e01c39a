"""Runs, studies and trials as JSON for other programs; docs/cli.md lists the fields, which do not change."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hopyard.cli.output import console

if TYPE_CHECKING:
    from hopyard.store import Project
    from hopyard.tracking import MetricPoint, RunRecord, StudyRecord, TrialRecord


def print_json(value: object) -> None:
    """Prints a value as JSON; a float that JSON cannot spell becomes the text ``NaN``, ``Infinity`` or ``-Infinity``."""
    console.stream([json.dumps(spelt(value), indent=2, ensure_ascii=False, allow_nan=False)])


def run_object(
    project: Project, run: RunRecord, metrics: Mapping[str, MetricPoint], *, now: float
) -> dict[str, Any]:
    """Returns a run as seen at `now`.

    Args:
        project: Where it is kept.
        run: Its record.
        metrics: The newest point of each metric.
        now: Seconds since the epoch.
    """
    from hopyard.tracking import parameters_of

    return {
        **_head(project, run, now=now),
        "description": run.description,
        "backend": run.backend,
        "nodes": run.nodes,
        "user": run.user,
        "version": run.version,
        "attempts": run.attempts,
        "parameters": parameters_of(project, run),
        "metrics": {name: point.value for name, point in sorted(metrics.items())},
        "value": run.value,
        "error": run.error,
        "tensorboard": run.details.get("tensorboard") if run.ended is None else None,
    }


def study_object(project: Project, run: RunRecord, study: StudyRecord, *, now: float) -> dict[str, Any]:
    """Returns a study as seen at `now`."""
    best = {"trial": study.best_trial, "value": study.best_value, "folder": study.best_folder}
    return {
        **_head(project, run, now=now),
        "metrics": list(study.objectives),
        "directions": [direction.value for direction in study.directions],
        "sampler": study.sampler,
        "pruner": study.pruner,
        "space": study.space,
        "trials": study.trials,
        "parallel": study.parallel,
        "counts": study.counts,
        "best": None if study.best_trial is None else best,
        "error": run.error,
    }


def trial_object(
    project: Project, run: RunRecord, study: StudyRecord, trial: TrialRecord, *, seconds: float | None
) -> dict[str, Any]:
    """Returns a trial of a study, which has taken so many seconds."""
    from hopyard.tracking import run_paths

    folder = run_paths(project, run.id).inner(trial.folder).folder if trial.folder else None
    return {
        "study": str(run.id),
        "number": trial.number,
        "state": trial.state.value,
        "parameters": trial.params,
        "metrics": dict(zip(study.objectives, trial.values, strict=False)),
        "result": trial.result,
        "started": moment(trial.started),
        "ended": moment(trial.ended),
        "seconds": None if seconds is None else round(seconds, 3),
        "attempt": trial.attempt,
        "host": trial.host or None,
        "folder": None if folder is None else project.url(folder),
        "error_type": trial.error_type,
        "error": trial.error,
    }


def until(run: RunRecord, now: float) -> float:
    """Returns when a run ended, or until when it is known to have been running."""
    from hopyard.tracking import RunState

    last_sign = run.updated if run.state_at(now) is RunState.LOST else now
    return last_sign if run.ended is None else run.ended


def moment(seconds: float | None) -> str | None:
    """Returns a time, given in seconds since the epoch, as ISO 8601 has it, with its zone."""
    return (
        None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
    )


def spelt(value: Any) -> Any:
    """Returns a value that strict JSON can hold."""
    from hopyard.codec.json_value import spell_float

    if isinstance(value, float):
        return spell_float(value)
    if isinstance(value, Mapping):
        return {str(key): spelt(item) for key, item in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [spelt(item) for item in value]
    return value


def _head(project: Project, run: RunRecord, *, now: float) -> dict[str, Any]:
    from hopyard.tracking import run_paths

    return {
        "id": str(run.id),
        "name": run.name,
        "state": run.state_at(now).value,
        "started": moment(run.started),
        "ended": moment(run.ended),
        "seconds": round(until(run, now) - run.started, 3),
        "folder": project.url(run_paths(project, run.id).folder),
    }
