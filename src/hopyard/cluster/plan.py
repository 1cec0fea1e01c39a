"""Who takes part in a run: the nodes, their ranks and their roles."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Self


class Role(Enum):
    """What a node is there for; the chief is the worker that also saves and reports."""

    CHIEF = "chief"
    WORKER = "worker"
    PS = "ps"
    EVALUATOR = "evaluator"


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One training process: its rank among all nodes, and its number among those of its role."""

    rank: int
    role: Role
    task_index: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The nodes of a run, in rank order."""

    nodes: tuple[Node, ...]

    @classmethod
    def of(cls, nodes: int) -> Self:
        """Returns a plan of one chief and ``nodes - 1`` workers."""
        if nodes < 1:
            raise ValueError(f"nodes={nodes}: a run needs at least one node.")
        chief = Node(rank=0, role=Role.CHIEF, task_index=0)
        workers = (Node(rank=rank, role=Role.WORKER, task_index=rank - 1) for rank in range(1, nodes))
        return cls(nodes=(chief, *workers))

    @property
    def size(self) -> int:
        """How many nodes there are."""
        return len(self.nodes)
