"""The GPUs of this machine, as nvidia-smi lists them."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hopyard.errors import GpusUnknown

VISIBLE = "CUDA_VISIBLE_DEVICES"
NVIDIA_SMI = "nvidia-smi"
QUERY = ("--query-gpu=index,uuid,memory.total", "--format=csv,noheader,nounits")
ANSWER_SECONDS = 30.0
_ROW = re.compile(r"(\d+), (GPU-[0-9A-Za-z-]+), (\d+|\[[^]]*\])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """A GPU of this machine."""

    index: int  # in the order of the PCI bus
    uuid: str
    memory_mib: int | None  # None: it has no memory of its own to tell the size of


def list_gpus(environ: Mapping[str, str]) -> tuple[Gpu, ...]:
    """Returns all GPUs of this machine; a machine without nvidia-smi has none.

    Raises:
        GpusUnknown: nvidia-smi is there and does not work.
    """
    program = shutil.which(NVIDIA_SMI, path=environ.get("PATH"))
    if program is None:
        return ()
    command = (program, *QUERY)
    try:
        asked = subprocess.run(
            command, capture_output=True, text=True, timeout=ANSWER_SECONDS, env=dict(environ)
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GpusUnknown(program, str(error)) from error
    if asked.returncode != 0:
        raise GpusUnknown(program, (asked.stdout + asked.stderr).strip() or f"exit code {asked.returncode}")
    if asked.stdout.startswith("No devices"):
        return ()
    return tuple(_gpu(line.strip(), program) for line in asked.stdout.splitlines())


def allowed_gpus(gpus: Sequence[Gpu], environ: Mapping[str, str]) -> tuple[Gpu, ...]:
    """Returns those of the GPUs that CUDA_VISIBLE_DEVICES allows, in its order; all of them if it is not set."""
    setting = environ.get(VISIBLE)
    if setting is None:
        return tuple(gpus)
    allowed: list[Gpu] = []
    for entry in setting.split(","):
        named = [gpu for gpu in gpus if _names(entry.strip(), gpu)]
        if len(named) != 1:  # as CUDA reads it: what is no device ends the list
            break
        allowed += [gpu for gpu in named if gpu not in allowed]
    return tuple(allowed)


def _names(entry: str, gpu: Gpu) -> bool:
    """Tells whether an entry of CUDA_VISIBLE_DEVICES means a GPU; the start of a UUID will do."""
    if entry.isdecimal():
        return int(entry) == gpu.index
    return entry.startswith("GPU-") and gpu.uuid.startswith(entry)


def _gpu(line: str, program: str) -> Gpu:
    row = _ROW.fullmatch(line)
    if row is None:
        raise GpusUnknown(program, f"the line {line!r} is not index, UUID and memory of a GPU")
    memory = int(row[3]) if row[3].isdecimal() else None
    return Gpu(index=int(row[1]), uuid=row[2], memory_mib=memory)
