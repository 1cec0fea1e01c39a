"""Whether something joins the processes of a run to train one model, as far as the libraries that are loaded can tell."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import ModuleType

from hopyard.frameworks.registry import loaded

# Those that join processes by themselves, or may: who has loaded one is taken to use it.
OTHERS = ("byteps", "horovod", "mpi4py", "ray")


def is_joined(modules: Mapping[str, ModuleType] = sys.modules) -> bool:
    """Tells whether a framework, or another library, has joined this process to others, without starting a device."""
    return any(framework.is_joined(module) for framework, module in loaded(modules)) or any(
        name in modules for name in OTHERS
    )
