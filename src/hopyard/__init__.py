"""Deep learning on Apache Spark: training, search and tracking in one project folder.

Everything public is here and loads when it is first used: ``import hopyard`` itself loads neither Spark
nor a framework.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hopyard import errors, tensorboard
    from hopyard.run.cluster import Cluster
    from hopyard.run.context import NodeContext
    from hopyard.run.launch import launch
    from hopyard.run.local_spark import local_spark
    from hopyard.run.reporter import Reporter
    from hopyard.run.result import RunResult
    from hopyard.search.api import ablation, differential_evolution, grid_search, random_search, search
    from hopyard.search.space.parameters import Choice, Range
    from hopyard.search.study.study import Study
    from hopyard.spark.session import SessionSettings
    from hopyard.store import Project
    from hopyard.tracking.run import Run, load_run

__version__ = "0.1.0"
__all__ = [
    "Choice",
    "Cluster",
    "NodeContext",
    "Project",
    "Range",
    "Reporter",
    "Run",
    "RunResult",
    "SessionSettings",
    "Study",
    "ablation",
    "differential_evolution",
    "errors",
    "grid_search",
    "launch",
    "load_run",
    "local_spark",
    "random_search",
    "search",
    "tensorboard",
]

_MODULES = ("errors", "search", "tensorboard")  # search can be called, too
_HOME = {
    "Choice": "hopyard.search",
    "Cluster": "hopyard.run.cluster",
    "NodeContext": "hopyard.run.context",
    "Project": "hopyard.store",
    "Range": "hopyard.search",
    "Reporter": "hopyard.run.reporter",
    "Run": "hopyard.tracking",
    "RunResult": "hopyard.run.result",
    "SessionSettings": "hopyard.spark.session",
    "Study": "hopyard.search",
    "ablation": "hopyard.search",
    "differential_evolution": "hopyard.search",
    "grid_search": "hopyard.search",
    "launch": "hopyard.run.launch",
    "load_run": "hopyard.tracking",
    "local_spark": "hopyard.run.local_spark",
    "random_search": "hopyard.search",
}


def __getattr__(name: str) -> Any:
    """Loads a public name from its module on first use."""
    if name in _MODULES:
        return import_module(f"hopyard.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'hopyard' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    """Returns the public names, for completion in a console or notebook."""
    return [*__all__, "__all__", "__doc__", "__file__", "__path__", "__version__"]
