"""Which frameworks there are, and what is asked of all of them, or of those that this process has loaded."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib import import_module
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any

from hopyard.errors import MissingDependency

if TYPE_CHECKING:
    from hopyard.frameworks.base import Framework, GpuShare
    from hopyard.frameworks.selection import Selection
    from hopyard.frameworks.source import EpochSource
    from hopyard.protocol.cluster_map import ClusterMap
    from hopyard.protocol.plan import Node


@dataclass(frozen=True, slots=True)
class FrameworkKind:
    """A row of the registry.

    Attributes:
        name: The package that a program imports.
        module: Our module about it, imported when it is asked for something; it does not import the framework.
        framework: Class in that module.
        extra: Extra of Hopyard that installs it; empty if there is none.
    """

    name: str
    module: str
    framework: str
    extra: str = ""

    def load(self) -> Framework:
        """Returns what Hopyard does for it."""
        framework: Framework = getattr(import_module(self.module), self.framework)()
        return framework


# The first one sees an error first: what TensorFlow has made of another error is undone before Keras explains that.
KINDS = (
    FrameworkKind("tensorflow", "hopyard.frameworks.tensorflow", "TensorFlow", extra="tensorflow"),
    FrameworkKind("keras", "hopyard.frameworks.keras", "Keras"),
    FrameworkKind("torch", "hopyard.frameworks.torch", "Torch", extra="torch"),
    FrameworkKind("jax", "hopyard.frameworks.jax", "Jax"),
)
NAMES = tuple(kind.name for kind in KINDS)


def kind_of(name: str) -> FrameworkKind:
    """Returns the row of a framework."""
    return next(kind for kind in KINDS if kind.name == name)


def loaded(modules: Mapping[str, ModuleType] = sys.modules) -> Iterator[tuple[Framework, ModuleType]]:
    """Yields the frameworks that this process has loaded."""
    for kind in KINDS:
        module = modules.get(kind.name)
        if module is not None:
            yield kind.load(), module


def driver_variables(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Returns the variables of the driver that the processes of its runs and studies get, too."""
    names = (name for kind in KINDS for name in kind.load().driver_variables)
    return {name: environ[name] for name in names if name in environ}


def cluster_variables(names: Collection[str], node: Node, cluster: ClusterMap) -> dict[str, str]:
    """Returns the variables by which some frameworks find the other nodes.

    Args:
        names: Which frameworks are told.
        node: The node whose process gets them.
        cluster: Where all nodes are.
    """
    told = [kind.load().variables(node, cluster) for kind in KINDS if kind.name in names]
    return {name: value for variables in told for name, value in variables.items()}


def memory_variables(share: GpuShare) -> dict[str, str]:
    """Returns the variables that keep all frameworks to a share of a GPU."""
    told = [kind.load().memory_variables(share) for kind in KINDS]
    return {name: value for variables in told for name, value in variables.items()}


def log_patterns() -> tuple[list[re.Pattern[str]], list[re.Pattern[str]]]:
    """Returns how lines look that tell a user nothing, and the first lines of errors that are logged again."""
    frameworks = [kind.load() for kind in KINDS]
    chatter = [framework.chatter for framework in frameworks if framework.chatter is not None]
    return chatter, [framework.retold for framework in frameworks if framework.retold is not None]


def empty_lines() -> list[re.Pattern[str]]:
    """Returns what is in lines of errors that do not tell what went wrong."""
    frameworks = [kind.load() for kind in KINDS]
    return [framework.empty for framework in frameworks if framework.empty is not None]


def dataset(name: str, asked_by: str, source: EpochSource, batch_size: int, selection: Selection) -> Any:
    """Returns a framework's own kind of dataset.

    Args:
        name: The framework.
        asked_by: The function of the user's call, for errors.
        source: Where the rows come from.
        batch_size: How many rows a batch has.
        selection: What is wanted of the columns.

    Raises:
        MissingDependency: The framework is not installed.
    """
    kind = kind_of(name)
    try:
        return kind.load().dataset(source, batch_size, selection)
    except ModuleNotFoundError as error:
        if error.name != kind.name:
            raise
        raise MissingDependency(kind.name, f"{asked_by}()", kind.extra) from error


def explained(
    error: Exception, noted: Sequence[Exception] = (), modules: Mapping[str, ModuleType] = sys.modules
) -> Exception:
    """Returns the error that a user is to see of one that a function raised; it is the same, unless it hides another.

    Args:
        error: What the function raised.
        noted: The last errors that its datasets raised.
        modules: What this process has loaded.
    """
    for framework, module in loaded(modules):
        error = framework.explain(error, module, noted)
    return error


def is_collecting(frame: FrameType | None) -> bool:
    """Tells whether a thread is within a call that reads a whole dataset before it returns anything of it.

    Args:
        frame: Where the thread is; None if it has ended.
    """
    frameworks = [framework for framework, _ in loaded()]
    while frame is not None:
        if any(framework.is_collecting(frame) for framework in frameworks):
            return True
        frame = frame.f_back
    return False


@contextmanager
def watching() -> Iterator[None]:
    """Gives a fed function a context in which it does not get wrong data because a framework only warns of it."""
    with ExitStack() as resources:
        for kind in KINDS:
            resources.enter_context(kind.load().watching())
        yield


def forget_all(modules: Mapping[str, ModuleType] = sys.modules) -> None:
    """Lets the frameworks that are loaded drop what they keep of a trial."""
    for framework, module in loaded(modules):
        framework.forget(module)
