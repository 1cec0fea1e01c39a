"""What an executor is given to run one node, and the environment that this makes for its process."""

from __future__ import annotations

import os
import socket
import sys
import sysconfig
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hopyard.cluster.node_info import NodeInfo
from hopyard.cluster.plan import Node
from hopyard.store import Project
from hopyard.tracking import NodeOutcome, NodeState, RunId

if TYPE_CHECKING:
    from hopyard.wire import Endpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeTask:
    """One node of a run, complete: who it is, what it runs, where it keeps things."""

    node: Node
    size: int
    run_id: RunId
    project: Project
    payload: bytes
    search_path: tuple[str, ...] = ()  # where the driver finds modules; what exists here too is used
    environment: Mapping[str, str] = field(default_factory=dict)
    sync_seconds: float = 10.0
    coordinator: Endpoint | None = None  # where to renew the lease; None beside the driver, which needs none
    lease_seconds: float = 60.0

    def variables(self, logdir: Path) -> dict[str, str]:
        """Returns the environment variables that make a process this node."""
        info = NodeInfo(
            run_id=str(self.run_id),
            rank=self.node.rank,
            size=self.size,
            role=self.node.role.value,
            task_index=self.node.task_index,
            logdir=str(logdir),
        )
        return {
            **self.environment,
            **info.to_env(),
            **self.project.to_env(),
            "TENSORBOARD_LOGDIR": str(logdir),
        }

    def finished(self, started: float) -> NodeOutcome:
        """Returns the record of a node whose function returned."""
        return NodeOutcome(
            rank=self.node.rank,
            role=self.node.role.value,
            host=socket.gethostname(),
            state=NodeState.FINISHED,
            exit_code=0,
            started=started,
            ended=time.time(),
        )


def child_environment(task: NodeTask, logdir: Path) -> dict[str, str]:
    """Returns the whole environment of a node's own process on this host."""
    return {
        **os.environ,
        **task.variables(logdir),
        "PYTHONPATH": os.pathsep.join(_search_path(task.search_path)),
        "PYTHONUNBUFFERED": "1",  # lines reach the log when they are printed
    }


def driver_search_path() -> tuple[str, ...]:
    """Returns where this process finds modules, apart from what is installed with its Python."""
    return tuple(_not_installed(os.path.abspath(entry) for entry in sys.path))


def _search_path(driver: Sequence[str]) -> list[str]:
    """Returns this process's own search path, followed by what exists here of the driver's."""
    own = [*os.environ.get("PYTHONPATH", "").split(os.pathsep), *driver_search_path()]
    return list(dict.fromkeys(entry for entry in (*own, *driver) if entry and os.path.exists(entry)))


def _not_installed(entries: Iterable[str]) -> list[str]:
    homes = {sysconfig.get_paths()[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")}
    standard = {f"python{sys.version_info.major}{sys.version_info.minor}.zip", "lib-dynload"}
    return [entry for entry in entries if entry not in homes and os.path.basename(entry) not in standard]
