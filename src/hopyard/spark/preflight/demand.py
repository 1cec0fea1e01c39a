"""What the nodes of a plan ask of Spark, and whether executors have it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from hopyard.spark.preflight.capacity import Executors, SparkSettings, slots


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """Nodes of one kind.

    Attributes:
        nodes: How many there are.
        gpus: What each needs: a number of GPUs, a share of one such as 0.1, 0 for none, or None for
            whatever the session gives each task.
    """

    nodes: int
    gpus: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortage:
    """Too few slots: so many are needed, so many are there.

    Attributes:
        needed: Slots that the nodes need.
        found: Slots that the executors have.
        gpus: What each of these slots must have; 0 if GPUs are not the matter.
    """

    needed: int
    found: int
    gpus: float = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What a plan asks of a Spark that has certain settings.

    Attributes:
        settings: Those of the application.
        nodes: How many nodes take how many GPUs from Spark, most GPUs first.
    """

    settings: SparkSettings
    nodes: tuple[tuple[float, int], ...]

    @classmethod
    def of(cls, settings: SparkSettings, demands: Iterable[Demand]) -> Self:
        """Returns the needs of all demands together."""
        counted: Counter[float] = Counter()
        for demand in demands:
            counted[settings.gpus_of_task(demand.gpus)] += demand.nodes
        return cls(settings=settings, nodes=tuple(sorted(counted.items(), reverse=True)))

    @property
    def slots(self) -> int:
        """How many nodes there are in all."""
        return sum(count for _, count in self.nodes)

    def shortage(self, executors: Sequence[Executors], *, shared: bool = True) -> Shortage | None:
        """Returns what executors lack to run all nodes at once; None if they have room.

        This is exact as long as those nodes that take a GPU all take the same part of it, with or without
        others that take none. A mix of different parts may be found to fit where it does not.

        Args:
            executors: Those that there are.
            shared: Whether nodes of different kinds run on the same executors.
        """
        cpus = self.settings.task_cpus
        in_all = slots(executors, cpus, 0)
        if shared and self.slots > in_all:
            return Shortage(needed=self.slots, found=in_all)
        for gpus, needed in self.nodes:
            found = slots(executors, cpus, gpus)
            if needed > found:
                return Shortage(needed=needed, found=found, gpus=gpus)
        return None
