"""What a node's process knows of itself, handed down through its environment."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Self

VARIABLE = "HOPYARD_NODE"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeInfo:
    """Identity and folders of the node that the current process is."""

    run_id: str
    rank: int
    size: int
    role: str
    task_index: int
    logdir: str  # on this host's disk; its content reaches the project while the node runs

    def to_env(self) -> dict[str, str]:
        """Returns the environment variables from which `from_env` restores this."""
        return {VARIABLE: json.dumps(asdict(self))}

    @classmethod
    def from_env(cls, environ: Mapping[str, str]) -> Self | None:
        """Returns what the environment tells, or None outside a node."""
        text = environ.get(VARIABLE)
        return None if text is None else cls(**json.loads(text))
