"""The GPUs that a training function may use; ``from hops import devices``."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping

LOG = logging.getLogger(__name__)
_ANSWER_SECONDS = 30


def get_num_gpus(environ: Mapping[str, str] = os.environ) -> int:
    """Returns how many GPUs this process may use: those that Spark gave, those made visible, or all."""
    given = _given_by_spark()
    if given is not None:
        return given
    visible = environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return _count_visible(visible)
    return _count_all(shutil.which("nvidia-smi", path=environ.get("PATH")))


def _given_by_spark() -> int | None:
    """Returns the number of GPUs of the Spark task, or None outside of a task or if it was given none."""
    # A process that has not loaded pyspark is in no task, so it is not loaded to find out.
    pyspark = sys.modules.get("pyspark")
    task = None if pyspark is None else pyspark.TaskContext.get()
    gpus = None if task is None else task.resources().get("gpu")
    return None if gpus is None else len(gpus.addresses)


def _count_visible(text: str) -> int:
    """Counts as CUDA does: the first entry that is no device ends the list."""
    count = 0
    for entry in text.split(","):
        if not (entry.strip().isdecimal() or entry.strip().startswith(("GPU-", "MIG-"))):
            break
        count += 1
    return count


def _count_all(nvidia_smi: str | None) -> int:
    if nvidia_smi is None:
        return 0
    listed = subprocess.run([nvidia_smi, "-L"], capture_output=True, text=True, timeout=_ANSWER_SECONDS)
    if listed.returncode != 0:
        LOG.warning("no GPU is counted, as nvidia-smi -L says: %s", (listed.stdout + listed.stderr).strip())
        return 0
    return sum(line.startswith("GPU ") for line in listed.stdout.splitlines())
