"""What a finished run hands back to the program that launched it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hopyard.store.names import AnyPath, as_text, check_file
from hopyard.tracking import RunState


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """The values that the nodes' functions returned, and where the run is kept."""

    run_id: str
    state: RunState
    values: tuple[Any, ...]  # in rank order
    logdir: str  # the run's folder in the project

    @property
    def value(self) -> Any:
        """What the chief returned."""
        return self.values[0]

    def path(self, name: AnyPath) -> str:
        """Returns the full path of a file of the run, such as ``path("model.keras")``; it need not be there."""
        return f"{self.logdir}/{check_file(as_text(name))}"
