"""Environments with other libraries that run trials in parallel, to measure against."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "build" / "peers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """Another library.

    Attributes:
        name: What it is called on PyPI.
        version: Which one it is.
        extra: The extra of it that is needed.
        others: What else is installed, with exact versions.
        same_as_ours: What else is installed in the version that this environment has.
    """

    name: str
    version: str
    extra: str = ""
    others: tuple[str, ...] = ()
    same_as_ours: tuple[str, ...] = ()

    def python(self) -> Path:
        """Returns the Python of its environment, which is made if it is missing or of other versions."""
        folder = FOLDER / self.name
        python, ready = folder / "bin" / "python", folder / "ready"
        wanted = "\n".join(self.requirements())
        if not ready.is_file() or ready.read_text() != wanted:
            shutil.rmtree(folder, ignore_errors=True)
            subprocess.run([sys.executable, "-m", "venv", folder], check=True)
            subprocess.run([python, "-m", "pip", "install", "-qq", *self.requirements()], check=True)
            ready.write_text(wanted)
        return python

    def requirements(self) -> list[str]:
        """Returns what is installed."""
        extra = f"[{self.extra}]" if self.extra else ""
        same = [f"{name}=={metadata.version(name)}" for name in self.same_as_ours]
        return [f"{self.name}{extra}=={self.version}", *self.others, *same]


SPARK = ("pyspark", "py4j", "pandas", "numpy")
HYPEROPT = Peer(name="hyperopt", version="0.3.0", others=("setuptools<80",), same_as_ours=SPARK)
MLFLOW = Peer(name="mlflow", version="3.17.2", same_as_ours=(*SPARK, "optuna"))
RAY = Peer(name="ray", version="2.60.0", extra="tune")
