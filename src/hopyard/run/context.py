"""What a training function sees of the run that it is part of."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, SupportsFloat, SupportsIndex, overload

from hopyard.errors import BadArguments, NotFed, NotInsideRun
from hopyard.protocol.channel import Reading, is_hopeless
from hopyard.protocol.node_info import NodeInfo
from hopyard.run.scalar import as_metrics, as_step
from hopyard.worker.ports import let_go

if TYPE_CHECKING:
    from hopyard.feed.node.node_feed import NodeFeed
    from hopyard.run.data_feed import DataFeed, ValidationFeed
    from hopyard.store import Project


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeContext:
    """The current node: who it is, where it may write, and how it reports.

    A function gets it by having a parameter named ``ctx``, or from `NodeContext.current`.
    """

    info: NodeInfo
    node_feed: NodeFeed | None = field(default=None, repr=False)

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
    def num_workers(self) -> int:
        """How many nodes train: chief and workers, without parameter servers and evaluator."""
        return self.info.trainers

    @property
    def role(self) -> str:
        """``chief``, ``worker``, ``ps`` or ``evaluator``."""
        return self.info.role

    @property
    def task_index(self) -> int:
        """This node's number among those of its role."""
        return self.info.task_index

    @property
    def cluster(self) -> Mapping[str, Sequence[str]]:
        """The addresses of all nodes by role, each as ``host:port``, in the order of their task indices."""
        if self.node_feed is not None:
            self.node_feed.has_addresses = True
        return self.info.cluster

    @property
    def attempt(self) -> int:
        """How often the run was started before; 0 unless ``max_restarts`` had to be used."""
        return self.info.attempt

    @property
    def run_id(self) -> str:
        """The run, as `hopyard runs` lists it."""
        return self.info.run_id

    @property
    def logdir(self) -> str:
        """A local folder for TensorBoard events and files to keep; it is copied to the project."""
        return self.info.logdir

    @property
    def checkpoint_dir(self) -> str:
        """A folder for checkpoints; a restarted run finds in it what the attempt before had saved.

        Where the project is on a file system, it is the same folder for all nodes. On other stores each node has a
        copy, and what rank 0 saves is kept.
        """
        os.makedirs(self.info.checkpoint_dir, exist_ok=True)
        return self.info.checkpoint_dir

    @overload
    def feed(self, name: Literal["train"] = "train", *, uneven: str | None = None) -> DataFeed: ...

    @overload
    def feed(self, name: Literal["validation"]) -> ValidationFeed: ...

    def feed(self, name: str = "train", *, uneven: str | None = None) -> DataFeed | ValidationFeed:
        """Returns the rows that `Cluster.train` and `Cluster.inference` feed to this node; the same each time.

        Args:
            name: ``"train"``, or ``"validation"`` for the rows of ``train(data, validation=...)``, which every node
                has all of and can read as often as it likes.
            uneven: For nodes that train in step, so that none waits for ever for another one's last batch: what is
                done with rows that some nodes get and others do not. ``"drop"``: all end an epoch after the same number
                of whole batches. ``"pad"``: nodes with fewer repeat rows. ``"stop"``: all end with the first, and the
                rest is not fed. All nodes must say the same, and ask for batches of the same size.

        Raises:
            NotFed: The run was not started with ``feed=True``, or the node is none of those that train, or the
                context is not the one that the function was called with.
            BadArguments: There is no such feed, or it was opened with another `uneven` before.
        """
        from hopyard.run.data_feed import (  # a node that is not fed needs none of it
            DataFeed,
            ValidationFeed,
        )

        if self.node_feed is None:
            raise NotFed("ctx.feed()", _why_not_fed(self.info))
        if name == "train":
            return self.node_feed.reader(uneven, DataFeed)
        if name == "validation" and uneven is None:
            return ValidationFeed(self.node_feed.stored)
        if name == "validation":
            raise BadArguments(
                "feed",
                f"uneven={uneven!r} is for training; leave it out, since every node has all rows for validation",
            )
        raise BadArguments("feed", f'there is no feed {name!r}; give "train" or "validation"')

    def should_stop(self) -> bool:
        """Whether the node is to end: the run was stopped, or all that train are done.

        In a trial of a study also whether what it has reported is hopeless, which the driver is asked.
        """
        if os.path.exists(self.info.stop_file):
            return True
        return self.info.is_judged and is_hopeless(os.environ)

    def release_port(self) -> None:
        """Lets go of the node's port, for a server that can only listen at a port which nobody holds.

        Servers of TensorFlow, torch and JAX need no such thing.
        """
        let_go(self.info.port, self.info.port_inode)

    def path(self, path: str | os.PathLike[str] = "") -> str:
        """Returns the full path of something in the project: a local path, or a URL.

        Args:
            path: Relative to the project, such as ``"Resources/mnist"``, or in full, such as `RunResult.path` returns.

        Raises:
            OutsideProject: It is a full path, and not in the project.
        """
        return self.project.url(path)

    def fetch(self, path: str | os.PathLike[str]) -> str:
        """Returns a local path of a file or folder of the project, for libraries that read from disks only.

        Where the project is on a file system it is the full path itself. From HDFS, S3 and other stores a copy is made,
        which goes with the node; fetching the same again costs little.

        Args:
            path: As for `path`.

        Raises:
            PathNotFound: There is nothing.
            OutsideProject: It is a full path, and not in the project.
        """
        from hopyard.store.fetching import fetch

        beside_logdir = Path(self.info.logdir).with_name("fetched")  # not in it, whose content is kept
        return str(fetch(self.project, path, beside_logdir))

    def report(self, step: SupportsIndex, **metrics: SupportsFloat) -> None:
        """Records metrics of a step; costs microseconds and is kept even if this process dies next.

        Args:
            step: The number of the step or epoch: a whole number.
            **metrics: Numbers, or scalars of NumPy, PyTorch or TensorFlow; NaN and infinity are recorded, too.

        Raises:
            BadReport: The step is no whole number, a metric is no number, or there is no metric.
        """
        number, values, now = as_step(step), as_metrics(metrics), time.time()
        for name, value in values.items():
            Reading(name=name, step=number, value=value, time=now).send(os.environ)


def _why_not_fed(info: NodeInfo) -> str:
    if info.feed_token:
        return (
            "the feed belongs to the context that the function is called with: give it a parameter named ctx"
        )
    if info.trial >= 0:
        return (
            "a trial of a search is not fed; before the search, write the DataFrame to the project "
            '(df.write.parquet(project.url("Resources/rows"))), and read it in the function from ctx.path("Resources/rows")'
        )
    if info.role in ("chief", "worker"):
        return "the run was started without feed=True; use Cluster(fn, feed=True)"
    return f"nodes that do not train are not fed, and this is a {info.role}"
