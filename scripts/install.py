"""Brings .venv to a level of installation: ``install.py demo`` or ``install.py dev``.

Makes .venv with the Python that runs this file if it is missing. Everything is installed with pip at the
versions in constraints.txt, the project and its facades in editable form. Several calls at once wait for
one another.
"""

from __future__ import annotations

import fcntl
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"

NEWER_PIP = ("--upgrade", "pip>=25.1")  # the first that knows --group
FACADES = ("-e", "facades/tensorflowonspark", "-e", "facades/hops")
DEV = ("-e", ".", *FACADES, "--group", "dev")
TF_KERAS = ("--no-deps", "--group", "tf-keras")  # it would bring a second TensorFlow
LEVELS = {
    "demo": ("hopyard with Spark and TensorFlow", [NEWER_PIP, ("-e", ".", *FACADES, "--group", "demo")]),
    "dev": ("hopyard with all that its tests and checks need", [NEWER_PIP, DEV, TF_KERAS]),
}


def main(level: str) -> None:
    """Installs a level; ends the process with a sentence if that fails."""
    what, steps = LEVELS[level]
    with (ROOT / "pyproject.toml").open("r+") as lock:  # any file that is always there
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not _works(PYTHON, "-m", "pip", "--version"):
            say("making .venv with Python " + ".".join(str(part) for part in sys.version_info[:3]))
            run(sys.executable, "-m", "venv", VENV)
        began = time.monotonic()
        say(f"installing {what}; the first time this takes minutes")
        for arguments in steps:
            run(PYTHON, "-m", "pip", "install", "-qq", "-c", "constraints.txt", *arguments)
        say(f"done in {time.monotonic() - began:.0f} s")


def run(*command: object) -> None:
    """Runs a command in the project's folder; ends the process if it fails, below what it had to say."""
    ended = subprocess.run([str(word) for word in command], cwd=ROOT, check=False)
    if ended.returncode:
        sys.exit(f"setup: failed: {' '.join(str(word) for word in command)}")


def say(text: str) -> None:
    """Tells a person what goes on."""
    print(f"setup: {text}", flush=True)


def _works(*command: object) -> bool:
    try:
        return (
            subprocess.run([str(word) for word in command], capture_output=True, check=False).returncode == 0
        )
    except FileNotFoundError:
        return False


if __name__ == "__main__":
    main(sys.argv[1])
