"""What a training function sees of the run that it is part of."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hopyard.cluster.channel import Reading
from hopyard.cluster.node_info import NodeInfo
from hopyard.errors import NotInsideRun

if TYPE_CHECKING:
    from hopyard.store import Project


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeContext:
    """The current node: who it is, where it may write, and how it reports.

    A function gets it by having a parameter named ``ctx``, or from `NodeContext.current`.
    """

    info: NodeInfo

    @classmethod
    def current(cls, environ: Mapping[str, str] = os.environ) -> NodeContext:
        """Returns the context of the node that this process is.

        Raises:
            NotInsideRun: This process is no node.
        """
        info = NodeInfo.from_env(environ)
        if info is None:
            raise NotInsideRun("the node's context")
        return cls(info=info)

    @property
    def project(self) -> Project:
        """The project that the run is kept in."""
        from hopyard.store import Project  # the user's process loads it when it is asked for

        return Project.open()

    @property
    def rank(self) -> int:
        """This node's number among all; 0 is the chief."""
        return self.info.rank

    @property
    def size(self) -> int:
        """How many nodes the run has."""
        return self.info.size

    @property
    def role(self) -> str:
        """``chief``, ``worker``, ``ps`` or ``evaluator``."""
        return self.info.role

    @property
    def run_id(self) -> str:
        """The run, as `hopyard runs` lists it."""
        return self.info.run_id

    @property
    def logdir(self) -> str:
        """A local folder for TensorBoard events and files to keep; it is copied to the project."""
        return self.info.logdir

    def path(self, relative: str = "") -> str:
        """Returns the full path of something in the project, for example ``path("Resources/mnist")``."""
        return self.project.url(relative)

    def report(self, step: int, **metrics: float) -> None:
        """Records metrics of a step; costs microseconds and is kept even if this process dies next."""
        now = time.time()
        for name, value in metrics.items():
            Reading(name=name, step=step, value=float(value), time=now).send(os.environ)
