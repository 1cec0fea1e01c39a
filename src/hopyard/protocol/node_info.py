"""What a node's process knows of itself, handed down through its environment."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Self

from hopyard.environment import NODE_VARIABLE

VARIABLE = NODE_VARIABLE


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeInfo:
    """Identity, folders and peers of the node that the current process is.

    Attributes:
        run_id: The run.
        attempt: How often the run was started before, with `max_restarts`.
        rank: The node's number among all.
        size: How many nodes there are.
        trainers: How many of them train: chief and workers.
        role: ``chief``, ``worker``, ``ps`` or ``evaluator``.
        task_index: The node's number among those of its role.
        logdir: Folder on this host's disk whose content reaches the project while the node runs.
        checkpoint_dir: Folder that outlives a restart.
        stop_file: Is there once the node is to end.
        port: Descriptor of the socket that holds the node's port; -1 for none.
        port_inode: By which that socket is known; descriptors are given out again.
        cluster: Addresses by role.
        feed_token: The secret that those who feed the node must show; empty if it is not fed.
        feed_ports: The ports at which it may be fed.
        tls: Whether it is fed over TLS.
        trial: Which trial of a study it is; -1 outside of one.
        is_judged: Whether a trial is told if what it reports is hopeless.
    """

    run_id: str
    attempt: int = 0
    rank: int
    size: int
    trainers: int
    role: str
    task_index: int
    logdir: str
    checkpoint_dir: str
    stop_file: str
    port: int = -1
    port_inode: int = 0
    cluster: Mapping[str, Sequence[str]] = field(default_factory=dict)
    feed_token: str = field(default="", repr=False)
    feed_ports: Sequence[int] = (0,)
    tls: bool = False
    trial: int = -1
    is_judged: bool = False

    def to_env(self) -> dict[str, str]:
        """Returns the environment variables from which `from_env` restores this."""
        return {VARIABLE: json.dumps({field.name: getattr(self, field.name) for field in fields(self)})}

    @classmethod
    def from_env(cls, environ: Mapping[str, str]) -> Self | None:
        """Returns what the environment tells, or None outside a node."""
        text = environ.get(VARIABLE)
        return None if text is None else cls(**json.loads(text))
