"""An environment with TensorFlowOnSpark 2.2.5 itself, to measure against.

What it needs to work beside pyspark 4.3, Python 3.11 and TensorFlow 2.21:

* setuptools below 80: it asks ``pkg_resources`` for the version of TensorFlow.
* ``tensorflow`` or ``tensorflow-cpu`` on every executor and on the driver: importing it imports TensorFlow.
* Python below 3.13, as it calls ``logger.warn``, and below 3.14, as its managers rely on fork.
* One task at a time in each executor, as an executor's working folder holds its number.

pip calls its ``Requires-Python`` invalid and installs it all the same.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

VERSION = "2.2.5"
SAME_AS_OURS = ("numpy", "py4j", "pyspark", "tensorflow-cpu")
VARIABLE = "HOPYARD_OLD_LIBRARY"
DEFAULT = Path(__file__).resolve().parents[1] / "build" / "old-library"


def old_python() -> Path:
    """Returns the Python of the environment, which is made if it is missing or of other versions."""
    folder = Path(os.environ.get(VARIABLE) or DEFAULT)
    python, ready = folder / "bin" / "python", folder / "ready"
    wanted = "\n".join(requirements())
    if not ready.is_file() or ready.read_text() != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "-qq", *requirements()], check=True)
        ready.write_text(wanted)
    return python


def requirements() -> list[str]:
    """Returns what is installed: the old library, with everything else as it is in this environment."""
    same = [f"{name}=={metadata.version(name)}" for name in SAME_AS_OURS]
    return [f"tensorflowonspark=={VERSION}", "setuptools<80", *same]
