"""Where the files of a run are, by the run's id."""

from __future__ import annotations

from dataclasses import dataclass

from hopyard.store import Project, RunPaths
from hopyard.tracking.runid import RunId


@dataclass(frozen=True, slots=True)
class AttemptLog:
    """Where the log of a node is that one attempt wrote: in segments while it goes on, then in one logfile."""

    segments: str
    logfile: str


def run_paths(project: Project, run_id: RunId | str) -> RunPaths:
    """Returns the paths in the folder of a run, or of a trial.

    Raises:
        InvalidName: It is a text that spells no id of a run.
    """
    wanted = RunId.of(run_id)
    run = project.layout.run(wanted.app_id, wanted.kind, wanted.number)
    return run.inner(wanted.trial) if wanted.trial else run


def attempt_log(paths: RunPaths, rank: int, attempt: int) -> AttemptLog:
    """Returns where the log of a node is that one attempt wrote."""
    return AttemptLog(segments=paths.node_logs(rank, attempt), logfile=paths.node_logfile(rank, attempt))
