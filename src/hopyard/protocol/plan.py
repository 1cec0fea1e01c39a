"""Who takes part in a run: the nodes, their ranks, their roles, and whom the run waits for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Self

from hopyard.errors import InvalidPlan


class Role(Enum):
    """What a node is there for; the chief is the worker that also saves and reports."""

    CHIEF = "chief"
    WORKER = "worker"
    PS = "ps"
    EVALUATOR = "evaluator"


TRAINERS = (Role.CHIEF, Role.WORKER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One training process: its rank among all nodes, and its number among those of its role."""

    rank: int
    role: Role
    task_index: int

    def __str__(self) -> str:
        return f"node {self.rank} ({self.role.value})"

    @property
    def trains(self) -> bool:
        """Whether the node works on the model itself; the others serve or look on."""
        return self.role in TRAINERS


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The nodes of a run in rank order: those that train first, then parameter servers, then the evaluator.

    Attributes:
        nodes: The nodes.
        waits_for: The roles that have to return for the run to be done; the others are ended then.
    """

    nodes: tuple[Node, ...]
    waits_for: frozenset[Role] = frozenset(TRAINERS)

    @classmethod
    def of(cls, nodes: int, *, ps: int = 0, evaluator: bool = False, chief: bool = True) -> Self:
        """Returns a plan.

        With parameter servers the chief is the coordinator and the workers serve it: then the run is done
        when the chief is. Otherwise it is done when all that train are.

        Args:
            nodes: All nodes together, parameter servers and evaluator included.
            ps: How many of them are parameter servers.
            evaluator: Whether one of them evaluates beside the training.
            chief: Whether the first one is called chief; otherwise it is worker 0.

        Raises:
            InvalidPlan: The numbers do not fit together.
        """
        for name, value, least in (("nodes", nodes, 1), ("ps", ps, 0)):
            if type(value) is not int or value < least:
                raise InvalidPlan(f"{name}={value!r}", f"give a whole number of at least {least}")
        for name, value in (("evaluator", evaluator), ("chief", chief)):
            if not isinstance(value, bool):
                raise InvalidPlan(f"{name}={value!r}", "give True or False")
        trainers = nodes - ps - evaluator
        if trainers < 1:
            given = f"nodes={nodes}, ps={ps}, evaluator={evaluator}"
            raise InvalidPlan(given, "no node is left to train; raise nodes, which counts all of them")
        counts = {
            Role.CHIEF: int(chief),
            Role.WORKER: trainers - chief,
            Role.PS: ps,
            Role.EVALUATOR: int(evaluator),
        }
        waits_for = frozenset({Role.CHIEF} if chief and ps else TRAINERS)
        places = [(role, index) for role, count in counts.items() for index in range(count)]
        members = (Node(rank=rank, role=role, task_index=index) for rank, (role, index) in enumerate(places))
        return cls(nodes=tuple(members), waits_for=waits_for)

    @property
    def size(self) -> int:
        """How many nodes there are."""
        return len(self.nodes)

    @property
    def trainers(self) -> int:
        """How many nodes work on the model itself."""
        return sum(node.trains for node in self.nodes)

    @property
    def leaders(self) -> frozenset[int]:
        """The ranks that have to return for the run to be done."""
        return frozenset(node.rank for node in self.nodes if node.role in self.waits_for)
