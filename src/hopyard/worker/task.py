"""What an executor is given to run one node, and the environment that this makes for its process."""

from __future__ import annotations

import os
import socket
import sys
import sysconfig
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from hopyard.frameworks.registry import cluster_variables
from hopyard.protocol.cluster_map import ClusterMap
from hopyard.protocol.node_info import NodeInfo
from hopyard.protocol.plan import Node, Plan
from hopyard.store import Project
from hopyard.tracking import NodeOutcome, NodeState, RunId
from hopyard.worker.gpus.request import DeviceRequest
from hopyard.worker.ports import ANY_PORT

STOP_FILE = "stop"


class Companion(Protocol):
    """Something that runs beside a node, such as a TensorBoard; it travels to the executor by pickle."""

    def __call__(self, logdir: Path, announce: Callable[[str, str], None]) -> AbstractContextManager[object]:
        """Returns a context for the life of the node; `announce` tells the driver a name and an address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeTask:
    """One node of a run, complete: who it is, what it runs, where it keeps things.

    Attributes:
        node: Which node it is.
        plan: All nodes.
        run_id: The run.
        project: Where the run is kept.
        payload: What it runs, pickled.
        attempt: How often the run was started before.
        search_path: Where the driver finds modules; what exists here too is used.
        environment: Variables for the node's process.
        sync_seconds: How often its log folder is copied to the project.
        lease_seconds: How long the driver may be out of reach.
        devices: The GPUs that it wants.
        ports: The ports that it may take.
        frameworks: Those that are told of the cluster, by name.
        streams: Whether its output is sent to the driver as well.
        companions: What runs beside rank 0.
        feed_token: The secret that those who feed the node must show; empty if it is not fed.
        tls: Whether they do so over TLS.
        trial: Which trial of a study it is; -1 outside of one.
        is_judged: Whether a trial is told if what it reports is hopeless.
    """

    node: Node
    plan: Plan
    run_id: RunId
    project: Project
    payload: bytes = field(repr=False)
    attempt: int = 0
    search_path: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    sync_seconds: float = 10.0
    lease_seconds: float = 30.0
    devices: DeviceRequest = field(default_factory=DeviceRequest)
    ports: tuple[int, ...] = ANY_PORT
    frameworks: tuple[str, ...] = ()
    streams: bool = False
    companions: tuple[Companion, ...] = ()
    feed_token: str = field(default="", repr=False)
    tls: bool = False
    trial: int = -1
    is_judged: bool = False

    def variables(self, place: NodePlace) -> dict[str, str]:
        """Returns the environment variables that make a process this node."""
        info = NodeInfo(
            run_id=str(self.run_id),
            attempt=self.attempt,
            rank=self.node.rank,
            size=self.plan.size,
            trainers=self.plan.trainers,
            role=self.node.role.value,
            task_index=self.node.task_index,
            logdir=str(place.logdir),
            checkpoint_dir=str(place.checkpoints),
            stop_file=str(place.stop_file),
            port=place.port,
            port_inode=0 if place.port < 0 else os.fstat(place.port).st_ino,
            cluster=place.members.by_role,
            feed_token=self.feed_token if self.node.trains else "",
            feed_ports=self.ports,
            tls=self.tls,
            trial=self.trial,
            is_judged=self.is_judged,
        )
        return {
            **self.environment,
            **cluster_variables(self.frameworks, self.node, place.members),
            **info.to_env(),
            **self.project.to_env(),
            "TENSORBOARD_LOGDIR": str(place.logdir),
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
            attempt=self.attempt,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePlace:
    """What a node has on the host that it runs on.

    Attributes:
        scratch: A folder of its own that goes with it.
        checkpoints: Where it keeps checkpoints.
        members: Where the other nodes are.
        port: Descriptor of the socket that holds its port; -1 for none.
    """

    scratch: Path
    checkpoints: Path
    members: ClusterMap
    port: int = -1

    @property
    def logdir(self) -> Path:
        """The folder for events and files to keep."""
        return self.scratch / "logdir"

    @property
    def temporary(self) -> Path:
        """The folder for temporary files."""
        return self.scratch / "tmp"

    @property
    def stop_file(self) -> Path:
        """A file that is there once the node is to end."""
        return self.scratch / STOP_FILE


def child_environment(task: NodeTask, place: NodePlace) -> dict[str, str]:
    """Returns the whole environment of a node's own process on this host."""
    own = {
        **os.environ,
        **task.variables(place),
        "TMPDIR": str(place.temporary),  # what frameworks leave there goes with the node
    }
    return process_environment(own, task.search_path)


def process_environment(own: Mapping[str, str], driver: Sequence[str]) -> dict[str, str]:
    """Returns the environment of a process that is to find what the driver finds, and whose output is read."""
    return {
        **own,
        "PYTHONPATH": os.pathsep.join(search_path(driver)),
        "PYTHONUNBUFFERED": "1",  # lines reach the log when they are printed
    }


def driver_search_path() -> tuple[str, ...]:
    """Returns where this process finds modules, apart from what is installed with its Python."""
    return tuple(_not_installed(os.path.abspath(entry) for entry in sys.path))


def search_path(driver: Sequence[str] = ()) -> list[str]:
    """Returns this process's own search path, followed by what exists here of the driver's."""
    own = [*os.environ.get("PYTHONPATH", "").split(os.pathsep), *driver_search_path()]
    return list(dict.fromkeys(entry for entry in (*own, *driver) if entry and os.path.exists(entry)))


def _not_installed(entries: Iterable[str]) -> list[str]:
    homes = {sysconfig.get_paths()[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")}
    standard = {f"python{sys.version_info.major}{sys.version_info.minor}.zip", "lib-dynload"}
    return [entry for entry in entries if entry not in homes and os.path.basename(entry) not in standard]
