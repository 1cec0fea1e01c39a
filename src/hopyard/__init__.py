"""Deep learning on Apache Spark: training, search and tracking in one project folder.

Everything public is here and loads when it is first used: ``import hopyard`` itself loads neither Spark
nor a framework.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hopyard.session import SessionSettings, local_spark
    from hopyard.store import Project
    from hopyard.training.cluster import Cluster
    from hopyard.training.context import NodeContext
    from hopyard.training.launch import launch
    from hopyard.training.result import RunResult

__version__ = "0.1.0"
__all__ = ["Cluster", "NodeContext", "Project", "RunResult", "SessionSettings", "launch", "local_spark"]

_HOME = {
    "Cluster": "hopyard.training.cluster",
    "NodeContext": "hopyard.training.context",
    "Project": "hopyard.store",
    "RunResult": "hopyard.training.result",
    "SessionSettings": "hopyard.session",
    "launch": "hopyard.training.launch",
    "local_spark": "hopyard.session",
}


def __getattr__(name: str) -> Any:
    """Loads a public name from its module on first use."""
    if name not in _HOME:
        raise AttributeError(f"module 'hopyard' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
