"""JAX: its share of a GPU, and whether it has joined processes."""

from __future__ import annotations

from typing import Any

from hopyard.frameworks.base import Framework, GpuShare

OLD_NAME = "XLA_PYTHON_CLIENT_MEM_FRACTION"
NEW_NAME = "XLA_CLIENT_MEM_FRACTION"


class Jax(Framework):
    """JAX, which reads its limit from the environment."""

    def memory_variables(self, share: GpuShare) -> dict[str, str]:
        """Returns the limit under one name: JAX refuses to start if both are set, and older ones know only the first."""
        return {OLD_NAME: share.text, **({NEW_NAME: ""} if NEW_NAME in share.environ else {})}

    def is_joined(self, module: Any) -> bool:
        """Tells whether JAX runs distributed; one that cannot be asked may."""
        ask = getattr(getattr(module, "distributed", None), "is_initialized", None)
        return ask is None or bool(ask())
