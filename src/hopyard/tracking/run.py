"""`load_run`: a run of the project, to be looked at and to get files from."""

from __future__ import annotations

import difflib
import time
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from hopyard.errors import RunFileNotFound
from hopyard.store import Project
from hopyard.store.names import AnyPath, as_text
from hopyard.tracking.catalog import find_run
from hopyard.tracking.paths import run_paths
from hopyard.tracking.printed import parse_printed
from hopyard.tracking.reader import RunReader
from hopyard.tracking.records import RunRecord
from hopyard.tracking.states import RunState
from hopyard.tracking.trial_runs import parameters_of, trial_record


class Run:
    """A run that was kept in the project, or a trial of a study; `load_run` returns it.

    What is in its record is as it was when the run was loaded; metrics, log and files are read when they are asked for.
    """

    def __init__(self, reader: RunReader) -> None:
        self._reader = reader
        self._project = reader.project
        self._paths = run_paths(reader.project, reader.id)
        self._record = reader.record()
        self._state = self._record.state_at(time.time())

    @property
    def run_id(self) -> str:
        """The run, as `hopyard runs` lists it."""
        return str(self._reader.id)

    @property
    def name(self) -> str:
        """The name that it was given, or that of its function."""
        return self._record.name

    @property
    def state(self) -> RunState:
        """How it stands; LOST if it should be running and its driver has fallen silent."""
        return self._state

    @property
    def error(self) -> str | None:
        """What went wrong; None if nothing did."""
        return self._record.error

    @property
    def value(self) -> Any:
        """What the chief returned: a number, a text, or a list, tuple or dict of them; of other things, their `repr`.

        For a trial it is the value of its objective. None if there is none, or not yet.
        """
        if self._record.value is not None:
            return parse_printed(self._record.value)
        trial = trial_record(self._project, self._reader.id)
        return None if trial is None else trial.value

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The named arguments of the function that are numbers, short texts or None; for a trial, its parameters."""
        return parameters_of(self._project, self._record)

    @property
    def logdir(self) -> str:
        """The run's folder in the project: a local path, or a URL."""
        return self._project.url(self._paths.folder)

    @property
    def record(self) -> RunRecord:
        """All that is on record, with times, nodes and restarts."""
        return self._record

    def path(self, name: AnyPath) -> str:
        """Returns the full path of a file or folder of the run, such as ``path("model.keras")``.

        Raises:
            RunFileNotFound: There is none; the error names those that there are.
        """
        path = self._paths.inner(as_text(name)).folder
        if not self._project.exists(path):
            files = self.files()
            near = difflib.get_close_matches(as_text(name), files, n=1)
            raise RunFileNotFound(self.run_id, as_text(name), near[0] if near else None, files)
        return self._project.url(path)

    def files(self) -> tuple[str, ...]:
        """Returns the files that the nodes have left, relative to `logdir`; those of node 2 are in ``node.2/``."""
        skip = len(self._paths.folder) + 1
        found = sorted(entry.path[skip:] for entry in self._project.walk(self._paths.folder))
        return tuple(name for name in found if not self._is_ours(name))

    def metrics(self, rank: int = 0) -> dict[str, dict[int, float]]:
        """Returns what a node reported: for each metric, its values by step, in order.

        ``pandas.DataFrame(run.metrics())`` makes a table of it. Where a node that was started again has repeated a step,
        the later value counts.
        """
        found: dict[str, dict[int, float]] = {}
        for point in self._reader.metrics():
            if point.rank == rank:
                found.setdefault(point.name, {})[point.step] = point.value
        return {name: dict(sorted(values.items())) for name, values in found.items()}

    def log(self, rank: int = 0, *, tail: int | None = None) -> str:
        """Returns what a node has printed, or the last lines of it."""
        return "\n".join(self._reader.log(rank, tail=tail))

    def __repr__(self) -> str:
        return f"<Run {self.run_id} {self.name!r} {self.state.value}>"

    def _is_ours(self, name: str) -> bool:
        first, _, rest = name.partition("/")
        if fnmatchcase(first, "node.[0-9]*") and rest:
            first = rest.partition("/")[0]
        return any(fnmatchcase(first, pattern) for pattern in self._paths.reserved_names)


def load_run(run: AnyPath, project: Project | None = None) -> Run:
    """Returns a run of the project, whether it has finished, failed or goes on.

    Args:
        run: Its id, the start or the end of its id, its name, its folder (`RunResult.logdir`), or ``"last"`` for the newest.
            After any of these a slash and the folder of one of its trials may follow.
        project: Where it is kept; `Project.open` if not given.

    Raises:
        RunNotFound: There is no such run; the error lists those that there are.
        AmbiguousRun: It may be several; the error lists them.
        OutsideProject: It is a folder outside of the project.
    """
    return Run(find_run(project or Project.open(), as_text(run)))
