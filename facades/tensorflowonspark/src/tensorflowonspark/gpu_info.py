"""The GPUs of a machine and which of them are free; ``from tensorflowonspark import gpu_info``.

A node of a cluster has its GPUs already and sees no others. These functions are for programs that share out
the GPUs of a machine themselves.
"""

from __future__ import annotations

import logging
import os
import secrets
import subprocess
import threading
import time

from hopyard.errors import BadArguments, GpusUnknown, TooFewGpus
from hopyard.worker.gpus.inventory import ANSWER_SECONDS, NVIDIA_SMI, Gpu, list_gpus

LOG = logging.getLogger(__name__)

MAX_RETRIES = (
    3  #: How patiently `get_gpus` waits: 30 s for the first try more, 60 s for the second, and so on.
)
AS_STRING = "string"
AS_LIST = "list"

_RETRY_SECONDS = 30.0
_LOOK_AGAIN_SECONDS = 1.0


def is_gpu_available() -> bool:
    """Returns whether this machine has a GPU that nvidia-smi knows of."""
    try:
        return bool(list_gpus(os.environ))
    except GpusUnknown as error:
        LOG.warning("no GPU is used: %s", error)
        return False


def get_gpus(num_gpu: int = 1, worker_index: int = -1, format: str = AS_STRING) -> str | list[str]:
    """Returns the indices of GPUs that no process computes on; waits for them if need be.

    Args:
        num_gpu: How many are wanted.
        worker_index: Number of this process among those that share the machine's GPUs; each takes the GPUs
            that follow those of the one before, round and round. Without it they are picked at random.
        format: ``AS_STRING`` for indices with commas between them, as CUDA_VISIBLE_DEVICES has them, or
            ``AS_LIST``.

    Raises:
        TooFewGpus: So many are not there, or did not become free.
        GpusUnknown: nvidia-smi does not work.
    """
    if format not in (AS_STRING, AS_LIST):
        raise BadArguments("gpu_info.get_gpus", f"format is {format!r} and may be 'string' or 'list'")
    gpus = list_gpus(os.environ)
    if len(gpus) < num_gpu:
        raise TooFewGpus(num_gpu, len(gpus), "on this machine", "ask for fewer")
    free = _wait_for_free(gpus, num_gpu, sum(_RETRY_SECONDS * n for n in range(1, MAX_RETRIES + 1)))
    chosen = [str(gpu.index) for gpu in _choose(free, num_gpu, worker_index)]
    LOG.info("GPUs chosen: %s", chosen)
    return ",".join(chosen) if format == AS_STRING else chosen


def _wait_for_free(gpus: tuple[Gpu, ...], wanted: int, seconds: float) -> list[Gpu]:
    deadline = time.monotonic() + seconds
    while len(free := _free(gpus)) < wanted:
        if time.monotonic() >= deadline:
            users = "; ".join(_ask("--query-compute-apps=gpu_uuid,pid,process_name,used_gpu_memory"))
            remedy = f"ask for fewer, or raise gpu_info.MAX_RETRIES to wait longer. In use: {users}"
            raise TooFewGpus(wanted, len(free), f"free after {seconds:g} s", remedy)
        LOG.info("%d GPUs are wanted and %d are free", wanted, len(free))
        threading.Event().wait(_LOOK_AGAIN_SECONDS)
    return free


def _free(gpus: tuple[Gpu, ...]) -> list[Gpu]:
    busy = set(_ask("--query-compute-apps=gpu_uuid"))
    return [gpu for gpu in gpus if gpu.uuid not in busy]


def _choose(free: list[Gpu], wanted: int, worker_index: int) -> list[Gpu]:
    if worker_index < 0:
        return secrets.SystemRandom().sample(free, wanted)
    first = worker_index * wanted
    return [free[(first + offset) % len(free)] for offset in range(wanted)]


def _ask(query: str) -> list[str]:
    """Returns the lines that nvidia-smi answers with."""
    command = (NVIDIA_SMI, query, "--format=csv,noheader")
    try:
        asked = subprocess.run(command, capture_output=True, text=True, timeout=ANSWER_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise GpusUnknown(NVIDIA_SMI, str(error)) from error
    return asked.stdout.splitlines()
