"""How many modules and functions of Hopyard a call passes, and how large the source is: what a newcomer has to read.

Counted on the driver's side, all its threads included, the processes of the nodes not. Fewer is not better by itself: these
are aims, to notice a detour.
"""

from __future__ import annotations

import ast
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from benchmarks.report import Table

import hopyard

SOURCE = Path(hopyard.__file__).parent


class Walk:
    """The modules and functions of Hopyard that were entered while it was open."""

    def __init__(self) -> None:
        self.functions: set[tuple[str, str, int]] = set()

    @property
    def modules(self) -> set[str]:
        return {file for file, _, _ in self.functions}

    def note(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(SOURCE)) and code.co_name != "<module>":
            self.functions.add((code.co_filename, code.co_qualname, code.co_firstlineno))


@contextmanager
def walking() -> Iterator[Walk]:
    walk = Walk()
    threading.setprofile(walk.note)
    sys.setprofile(walk.note)
    try:
        yield walk
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def launch(root: str) -> None:
    hopyard.launch(abs, (-1,), backend="processes", project=hopyard.Project(root, "walk"), progress=False)


def search(root: str) -> None:
    space = {"x": hopyard.Range(0.0, 1.0)}
    project = hopyard.Project(root, "walk")
    hopyard.search(trial, space, trials=1, parallel=1, backend="processes", project=project, progress=False)


def trial(x: float) -> float:
    return x


def walked(call: Callable[[str], None]) -> Walk:
    with tempfile.TemporaryDirectory() as root:
        call(root)  # what is imported by the first call is not part of the way
        with walking() as walk:
            call(root)
    return walk


def run() -> Table:
    rows = []
    for name, call, aim in (
        ("launch, processes", launch, "35 modules, 220 functions"),
        ("search, one trial", search, "40 modules"),
    ):
        walk = walked(call)
        rows.append((name, f"{len(walk.modules)} modules, {len(walk.functions)} functions", aim))
    files = [(path, path.read_text()) for path in sorted(SOURCE.rglob("*.py"))]
    lines = sum(text.count("\n") for _, text in files)
    nodes = [node for _, text in files for node in ast.walk(ast.parse(text))]
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    protocols = [node.name for node in classes if "Protocol" in map(ast.unparse, node.bases)]
    folders = Counter(path.parent for path, _ in files if path.name != "__init__.py")
    rows += [
        ("lines of source", f"{lines:,}", "35,000"),
        ("classes per 1,000 lines", f"{1000 * len(classes) / lines:.1f}", "11"),
        ("modules in the largest folder", str(max(folders.values())), "20"),
        ("protocols", str(len(protocols)), "those with two implementations"),
    ]
    return Table(
        title="What a call passes, and what there is to read",
        columns=("what", "found", "aim"),
        rows=tuple(rows),
        notes="Of `src/hopyard`, without the facades. " + (__doc__ or "").split("\n\n", 1)[1],
    )
