"""A node's share of its GPU's memory, told to TensorFlow, PyTorch and JAX.

JAX and newer PyTorch read their limit from the environment. TensorFlow and older PyTorch take it only by a call after
they are loaded and before they use the GPU, so that call is made at the end of their import.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Mapping
from functools import partial
from importlib import metadata
from types import ModuleType
from typing import Any

from hopyard.errors import GpuMemoryNotLimited, GpusUnknown, InvalidDevices
from hopyard.worker.gpus.import_hook import after_import
from hopyard.worker.gpus.inventory import NVIDIA_SMI, VISIBLE, allowed_gpus, list_gpus

FRACTION = "HOPYARD_GPU_FRACTION"
_TORCH_NAME = "PYTORCH_ALLOC_CONF"
_TORCH_OLD_NAME = "PYTORCH_CUDA_ALLOC_CONF"  # if it is set, the other does not count
_TORCH_OPTION = "per_process_memory_fraction"
# Older ones do not know the option, or do not read it from both variables.
_TORCH_SINCE = (2, 13)


def memory_variables(fraction: float, environ: Mapping[str, str]) -> dict[str, str]:
    """Returns the environment variables that limit a process to a share of its GPU's memory."""
    share = f"{fraction:.6g}"
    return {
        FRACTION: share,
        # A process that the node starts has no limit set by a call; at least it does not take all at once.
        "TF_FORCE_GPU_ALLOW_GROWTH": "true",
        # JAX refuses to start if both names are set. Older ones know only the first.
        "XLA_PYTHON_CLIENT_MEM_FRACTION": share,
        **({"XLA_CLIENT_MEM_FRACTION": ""} if "XLA_CLIENT_MEM_FRACTION" in environ else {}),
        **_torch_variables(share, environ),
    }


def prepare(environ: Mapping[str, str] = os.environ) -> None:
    """Sees to it that frameworks which this process imports later keep to its share of the GPU's memory.

    It imports none of them itself. A framework that cannot be limited raises GpuMemoryNotLimited at its import.
    """
    if FRACTION not in environ:
        return
    fraction = _fraction(environ[FRACTION])
    after_import(
        {
            "tensorflow": partial(_limit_or_say_why, limit_tensorflow, fraction, environ),
            "torch": partial(_limit_or_say_why, limit_torch, fraction, environ),
        }
    )


def limit_tensorflow(tensorflow: Any, fraction: float, environ: Mapping[str, str]) -> None:
    """Makes one logical device of limited memory out of the GPU that TensorFlow sees, if it sees any."""
    gpus = tensorflow.config.list_physical_devices("GPU")
    if not gpus:
        return
    limit = tensorflow.config.LogicalDeviceConfiguration(memory_limit=int(fraction * _memory_mib(environ)))
    tensorflow.config.set_logical_device_configuration(gpus[0], [limit])


def limit_torch(torch: Any, fraction: float, environ: Mapping[str, str]) -> None:
    """Limits the allocator of PyTorch, unless its environment does it already or there is no GPU."""
    if _TORCH_OPTION not in environ.get(_torch_variable(environ), "") and torch.cuda.is_available():
        torch.cuda.set_per_process_memory_fraction(fraction, 0)


def _limit_or_say_why(
    limit: Callable[[Any, float, Mapping[str, str]], None],
    fraction: float,
    environ: Mapping[str, str],
    framework: ModuleType,
) -> None:
    try:
        limit(framework, fraction, environ)
    except (AttributeError, TypeError, ValueError, RuntimeError) as error:
        raise GpuMemoryNotLimited(framework.__name__, fraction, f"{type(error).__name__}: {error}") from error


def _memory_mib(environ: Mapping[str, str]) -> int:
    """Returns the memory of the first GPU that this process may use."""
    gpus = allowed_gpus(list_gpus(environ), environ)
    if not gpus or gpus[0].memory_mib is None:
        raise GpusUnknown(NVIDIA_SMI, f"it does not tell the memory of {VISIBLE}={environ.get(VISIBLE)!r}")
    return gpus[0].memory_mib


def _torch_variables(share: str, environ: Mapping[str, str]) -> dict[str, str]:
    """Returns the allocator's settings of before, with the limit added, if the installed PyTorch reads it there."""
    if not _torch_reads_option():
        return {}
    name = _torch_variable(environ)
    options = [each for each in environ.get(name, "").split(",") if each and _TORCH_OPTION not in each]
    return {name: ",".join([*options, f"{_TORCH_OPTION}:{share}"])}


def _torch_variable(environ: Mapping[str, str]) -> str:
    return _TORCH_OLD_NAME if _TORCH_OLD_NAME in environ else _TORCH_NAME


def _torch_reads_option() -> bool:
    try:
        version = re.match(r"(\d+)\.(\d+)", metadata.version("torch"))
    except metadata.PackageNotFoundError:
        return False
    return version is not None and (int(version[1]), int(version[2])) >= _TORCH_SINCE


def _fraction(text: str) -> float:
    try:
        fraction = float(text)
    except ValueError:
        fraction = math.nan
    if not 0 < fraction <= 1:
        raise InvalidDevices(text, FRACTION, "set it to a share of a GPU above 0 and at most 1, or unset it")
    return fraction
