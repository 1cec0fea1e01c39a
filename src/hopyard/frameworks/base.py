"""What a framework is to Hopyard: a class with a method for each moment at which it has a say."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    from hopyard.frameworks.selection import Selection
    from hopyard.frameworks.source import EpochSource
    from hopyard.protocol.cluster_map import ClusterMap
    from hopyard.protocol.plan import Node


class Report(Protocol):
    """What takes the metrics of a step, and may end the training by raising."""

    def __call__(self, step: int, /, **metrics: float) -> None:
        """Takes the metrics of a step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuShare:
    """A process's share of the memory of its GPU.

    Attributes:
        fraction: Above 0, and at most 1.
        environ: The environment that the process has otherwise.
        memory_mib: Asks the machine how much memory the whole GPU has.
    """

    fraction: float
    environ: Mapping[str, str]
    memory_mib: Callable[[], int]

    @property
    def text(self) -> str:
        """The fraction as it is written into variables."""
        return f"{self.fraction:.6g}"


class Framework:
    """One framework. Methods that it has no use for stay as they are here: they do nothing.

    Its module is loaded where the framework may not be installed, and where loading it would cost seconds. So it never
    imports the framework at its top. Methods that need it loaded get it as `module`.

    Attributes:
        driver_variables: Variables of the driver that the processes of its runs and studies get, too.
        chatter: Lines that it writes into a node's output, and that tell a user nothing.
        empty: What is in lines of its errors that do not tell what went wrong, if the first line is one of them.
        retold: The first line of an error of Python code, as the framework logs it again; its group ``error`` is the
            last line of the traceback that follows.
    """

    driver_variables: ClassVar[tuple[str, ...]] = ()
    chatter: ClassVar[re.Pattern[str] | None] = None
    empty: ClassVar[re.Pattern[str] | None] = None
    retold: ClassVar[re.Pattern[str] | None] = None

    def variables(self, node: Node, cluster: ClusterMap) -> dict[str, str]:
        """Returns the variables that tell the process of a node about the others, before it imports the framework."""
        return {}

    def memory_variables(self, share: GpuShare) -> dict[str, str]:
        """Returns the variables that keep a process to its share of a GPU, as far as variables can."""
        return {}

    def limit_memory(self, module: ModuleType, share: GpuShare) -> None:
        """Keeps this process to its share of a GPU, where variables cannot; called at the end of the import."""

    def dataset(self, source: EpochSource, batch_size: int, selection: Selection) -> Any:
        """Returns the framework's own kind of dataset, of one epoch in each loop.

        Raises:
            ModuleNotFoundError: The framework is not installed.
        """
        raise NotImplementedError

    def callback(self, report: Report, package: str) -> Any:
        """Returns a callback that reports the metrics of each epoch.

        Args:
            report: Called at the end of each epoch; what it raises ends the training.
            package: The package of the framework that the program uses, where there are several.
        """
        raise NotImplementedError

    def is_joined(self, module: ModuleType) -> bool:
        """Tells whether it has joined this process to others, to train one model; asking must not start a device."""
        return False

    def explain(self, error: Exception, module: ModuleType, noted: Sequence[Exception]) -> Exception:
        """Returns the error that a user is to see of one that a function raised: the same, with advice, or its cause.

        Args:
            error: What the function raised.
            module: The framework.
            noted: The last errors that its datasets raised, of which it may have made one of its own.
        """
        return error

    def is_collecting(self, frame: FrameType) -> bool:
        """Tells whether a call reads a whole dataset before it returns anything of it."""
        return False

    def watching(self) -> AbstractContextManager[None]:
        """Returns a context in which a fed function runs: what the framework only warns of may be an error there."""
        return nullcontext()

    def forget(self, module: ModuleType) -> None:
        """Drops what it keeps of a trial, so that the next one in this process finds it as new."""


@dataclass(frozen=True, slots=True)
class Advice:
    """A row of a table of errors that programs for older releases get.

    Attributes:
        pattern: What is in the text of the error.
        text: What to do; ``{version}`` is that of the framework.
    """

    pattern: re.Pattern[str]
    text: str


def advise(error: Exception, table: Iterable[Advice], version: str) -> None:
    """Adds a note to an error: the advice of the first row that it fits, if there is one."""
    text = text_of(error)
    for row in table:
        if row.pattern.search(text):
            error.add_note(row.text.format(version=version))
            return


def text_of(error: Exception) -> str:
    """Returns the text of an error; empty if its class, which may be the user's own, cannot tell it."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001  of a class of the user's own, whose text is nobody's
        return ""


def version_of(module: ModuleType) -> str:
    """Returns the version of a module; empty if it has none, as while it is being imported."""
    return str(getattr(module, "__version__", ""))
