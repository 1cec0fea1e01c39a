"""What a shell offers after the Tab key where a run or a study is to be named."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from hopyard.cli.global_options import OPTIONS as GLOBAL_OPTIONS
from hopyard.cli.global_options import globals_first

if TYPE_CHECKING:
    from hopyard.store import Project
    from hopyard.tracking import RunRecord

LAST = "last"
PROGRAM = "hopyard"
VARIABLE = "_HOPYARD_COMPLETE"
OPTIONS = ("--install-completion", "--show-completion")
RUNS, STUDIES, REMOVED = "runs", "studies", "removed"
WANTED = {
    "runs": RUNS,
    "logs": RUNS,
    "compare": RUNS,
    "tensorboard": RUNS,
    "rm": RUNS,
    "trials": STUDIES,
    "restore": REMOVED,
}


def quick_offer(environ: Mapping[str, str]) -> list[str] | None:
    """Returns what to offer bash for the name of a run; None if it asks for anything else, or nobody asks.

    typer could answer, too, and does so for other shells; but it needs twice the time until it has been loaded.

    Args:
        environ: What bash tells the program: all words of the line, and which of them is to be completed.
    """
    if environ.get(VARIABLE) != "complete_bash":
        return None
    words = environ.get("COMP_WORDS", "").split("\n")
    position = int(environ.get("COMP_CWORD") or 0)
    incomplete = words[position] if position < len(words) else ""
    before = globals_first(words[1:position])
    options = {name: before[before.index(name) + 1] for name in GLOBAL_OPTIONS if name in before[:-1]}
    rest = before[2 * len(options) :]
    if not rest or rest[0] not in WANTED or incomplete.startswith("-") or rest[-1].startswith("-"):
        return None
    return offered(options.get("--root"), options.get("--project"), WANTED[rest[0]], incomplete)


def offered(root: str | None, name: str | None, what: str, incomplete: str) -> list[str]:
    """Returns names and ids that begin with what was typed, newest first.

    There are none on a remote store: it may take longer than somebody waits after the Tab key.

    Args:
        root: Where the projects are; as in `Project.open`.
        name: Which project; likewise.
        what: ``runs``, ``studies``, or ``removed`` for what is in the trash.
        incomplete: What was typed.
    """
    from hopyard.errors import HopyardError
    from hopyard.store import Project

    try:
        project = Project.open(root, name)
        found = _found(project, what) if project.is_near else []
    except (HopyardError, OSError):
        return []  # a message would land in the middle of the line that is being typed
    last = [LAST] if found and what != REMOVED else []
    words = dict.fromkeys([*last, *(run.name for run in found), *(str(run.id) for run in found)])
    return [word for word in words if word.startswith(incomplete) and shlex.quote(word) == word]


def _found(project: Project, what: str) -> Sequence[RunRecord]:
    from hopyard.tracking import list_runs, list_studies
    from hopyard.tracking.trash import list_trash

    if what == REMOVED:
        removed: Iterable[RunRecord | None] = (each.record for each in list_trash(project))
        return [record for record in removed if record is not None]
    return list_runs(project).runs if what == RUNS else list_studies(project)
