"""A node's share of its GPU's memory, told to the frameworks that it may import.

Some read their limit from the environment. Others take it only by a call after they are loaded and before they use the
GPU, so that call is made at the end of their import.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from functools import partial
from types import ModuleType

from hopyard.errors import GpuMemoryNotLimited, GpusUnknown, InvalidDevices
from hopyard.frameworks import registry
from hopyard.frameworks.base import GpuShare
from hopyard.frameworks.registry import KINDS, FrameworkKind
from hopyard.worker.gpus.import_hook import after_import
from hopyard.worker.gpus.inventory import NVIDIA_SMI, VISIBLE, allowed_gpus, list_gpus

FRACTION = "HOPYARD_GPU_FRACTION"


def memory_variables(fraction: float, environ: Mapping[str, str]) -> dict[str, str]:
    """Returns the environment variables that limit a process to a share of its GPU's memory."""
    share = gpu_share(fraction, environ)
    return {FRACTION: share.text, **registry.memory_variables(share)}


def prepare(environ: Mapping[str, str] = os.environ) -> None:
    """Sees to it that frameworks which this process imports later keep to its share of the GPU's memory.

    It imports none of them itself. A framework that cannot be limited raises GpuMemoryNotLimited at its import.
    """
    if FRACTION not in environ:
        return
    share = gpu_share(_fraction(environ[FRACTION]), environ)
    after_import({kind.name: partial(_limit_or_say_why, kind, share) for kind in KINDS})


def gpu_share(fraction: float, environ: Mapping[str, str]) -> GpuShare:
    """Returns the share of a process that has this environment."""
    return GpuShare(fraction=fraction, environ=environ, memory_mib=partial(_memory_mib, environ))


def _limit_or_say_why(kind: FrameworkKind, share: GpuShare, module: ModuleType) -> None:
    try:
        kind.load().limit_memory(module, share)
    except (AttributeError, TypeError, ValueError, RuntimeError) as error:
        raise GpuMemoryNotLimited(kind.name, share.fraction, f"{type(error).__name__}: {error}") from error


def _memory_mib(environ: Mapping[str, str]) -> int:
    """Returns the memory of the first GPU that this process may use."""
    gpus = allowed_gpus(list_gpus(environ), environ)
    if not gpus or gpus[0].memory_mib is None:
        raise GpusUnknown(NVIDIA_SMI, f"it does not tell the memory of {VISIBLE}={environ.get(VISIBLE)!r}")
    return gpus[0].memory_mib


def _fraction(text: str) -> float:
    try:
        fraction = float(text)
    except ValueError:
        fraction = math.nan
    if not 0 < fraction <= 1:
        raise InvalidDevices(text, FRACTION, "set it to a share of a GPU above 0 and at most 1, or unset it")
    return fraction
