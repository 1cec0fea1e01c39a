"""Whether something joins the processes of a run to train one model, as far as the libraries that are loaded can tell."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

# Those that join processes by themselves, or may: who has loaded one is taken to use it.
OTHERS = ("byteps", "horovod", "mpi4py", "ray")


def is_joined(modules: Mapping[str, ModuleType] = sys.modules) -> bool:
    """Tells whether PyTorch, JAX or another library has joined this process to others; TensorFlow is not asked."""
    return (
        _torch_is(modules.get("torch.distributed"))
        or _jax_is(modules.get("jax"))
        or any(name in modules for name in OTHERS)
    )


def _torch_is(distributed: Any) -> bool:
    return distributed is not None and distributed.is_available() and bool(distributed.is_initialized())


def _jax_is(jax: Any) -> bool:
    if jax is None:
        return False
    distributed = getattr(jax, "distributed", None)
    ask = getattr(distributed, "is_initialized", None)
    return ask is None or bool(ask())  # one that cannot be asked may be
