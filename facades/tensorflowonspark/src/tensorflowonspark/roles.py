"""Who is who in a cluster, under the names and numbers of TensorFlowOnSpark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from hopyard.errors import InvalidPlan
from hopyard.protocol.plan import TRAINERS, Plan, Role

_TAKEN = {role.value for role in Role} - {Role.CHIEF.value}


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """The nodes of a cluster.

    Attributes:
        num_executors: All nodes together.
        num_ps: How many of them are parameter servers.
        master_node: What the node is called that leads the others, mostly ``chief`` or ``master``; None if no
            worker is more than the others.
        eval_node: Whether one of the nodes evaluates.
    """

    num_executors: int
    num_ps: int = 0
    master_node: str | None = None
    eval_node: bool = False

    def plan(self) -> Plan:
        """Returns the nodes as a run has them; it waits for all that train, whoever leads them.

        Raises:
            InvalidPlan: The numbers do not fit together, or the master has the name of another role.
        """
        if self.master_node in _TAKEN:
            raise InvalidPlan(f"master_node={self.master_node!r}", "call it 'chief' or 'master'")
        plan = Plan.of(
            self.num_executors,
            ps=self.num_ps,
            evaluator=self.eval_node,
            chief=self.master_node is not None,
        )
        return replace(plan, waits_for=frozenset(TRAINERS))

    def job_name(self, role: str) -> str:
        """Returns what a role of the plan is called here."""
        return self.master_node or role if role == Role.CHIEF.value else role

    def template(self) -> dict[str, list[int]]:
        """Returns the numbers of the executors by job name: parameter servers first, workers last."""
        master, evaluator = int(self.master_node is not None), int(self.eval_node)
        counts = {
            Role.PS.value: self.num_ps,
            self.job_name(Role.CHIEF.value): master,
            Role.EVALUATOR.value: evaluator,
            Role.WORKER.value: self.num_executors - self.num_ps - master - evaluator,
        }
        numbers = iter(range(self.num_executors))
        return {job: [next(numbers) for _ in range(count)] for job, count in counts.items() if count}

    def executor_id(self, role: str, task_index: int) -> int:
        """Returns the number of a node."""
        return self.template()[self.job_name(role)][task_index]

    def cluster_spec(self, cluster: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
        """Returns the addresses of all nodes by job name."""
        named = {self.job_name(role): list(addresses) for role, addresses in cluster.items()}
        return {job: named[job] for job in self.template()}
