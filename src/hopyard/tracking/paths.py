"""Where the files of a run are, by the run's id."""

from __future__ import annotations

from dataclasses import dataclass

from hopyard.store import Project, RunPaths
from hopyard.tracking.runid import RunId


@dataclass(frozen=True, slots=True)
class LogPart:
    """Where one writer's share of a node's log is: in segments while it writes, then in one logfile."""

    segments: str
    logfile: str


def run_paths(project: Project, run_id: RunId) -> RunPaths:
    """Returns the paths in the folder of a run."""
    return project.layout.run(run_id.app_id, run_id.kind, run_id.number)


def log_part(paths: RunPaths, rank: int, part: int) -> LogPart:
    """Returns where a part of a node's log is; a node that is started again writes the next part."""
    return LogPart(segments=paths.node_logs(rank, part), logfile=paths.node_logfile(rank, part))
