"""A program of one side that runs beside us and measures whenever it is asked to."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from benchmarks import cluster

ROOT = Path(__file__).resolve().parents[1]


class Side(cluster.Side):
    """A module of this package, run by the Python of a side."""

    def __init__(self, python: Path, module: str, folder: Path) -> None:
        self.log = folder / "log"
        # the root of the repository has the benchmarks, and neither of the libraries
        paths = {"TMPDIR": folder, "HOPYARD_ROOT": folder / "root", "PYTHONPATH": ROOT}
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [python, "-P", "-m", module, folder],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env={**os.environ, **{name: str(path) for name, path in paths.items()}},
                cwd=folder,
                text=True,
            )
