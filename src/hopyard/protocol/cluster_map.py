"""The cluster map: at which address each node is reached."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from hopyard.protocol.plan import Node


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterMap:
    """The addresses of a run's nodes by role, each as ``host:port``, in the order of their task indices."""

    by_role: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, addresses: Mapping[Node, str]) -> Self:
        """Returns the map of nodes that have all arrived."""
        ordered = sorted(addresses, key=lambda node: node.rank)
        roles = dict.fromkeys(node.role.value for node in ordered)
        return cls(
            by_role={
                role: tuple(addresses[node] for node in ordered if node.role.value == role) for role in roles
            }
        )
