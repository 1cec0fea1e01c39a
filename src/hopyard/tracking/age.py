"""How old a file of the project is by the clock of its store: clocks of machines may differ."""

from __future__ import annotations

import uuid

from hopyard.store import Project


def age_of(project: Project, path: str) -> float:
    """Returns how many seconds ago a file was written.

    Another file is written beside it for that, so that both times come from the same clock.

    Raises:
        PathNotFound: There is no such file.
    """
    written = project.info(path).modified
    probe = f"{path.rpartition('/')[0]}/.now-{uuid.uuid4().hex}"
    project.put(probe, b"")
    try:
        return max(0.0, project.info(probe).modified - written)
    finally:
        project.remove(probe)
