"""Every path of a project, in one place.

Run folders lie where the Hops library had them, so that old paths resolve. A run whose nodes are started again
has several attempts, counted from 0; what a node of a later attempt leaves carries its number: ``2.1`` is rank
2 in attempt 1.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass

from hopyard.store.names import check_file, check_name

PROJECTS = "Projects"

# Names in a run folder that are ours, as patterns: a user's file of such a name is stored under another.
# `checkpoints` is none of them. It is the user's, and what the chief writes to a folder of that name in its log
# folder is a checkpoint of the run like any other.
RESERVED_NAMES = frozenset(
    {
        "run.json",
        "study.json",
        "study.log*",
        "trial.json",
        "logfile*",
        "metric",
        "metrics",
        "logs",
        "nodes",
        "feeds",
        "node.[0-9]*",
    }
)

# No dot in a key: what stands between two '=' has to have one reading.
_SAFE_KEY = re.compile(r"[\w+-]+", re.ASCII)
_SAFE_VALUE = re.compile(r"[\w+-]+(\.[\w+-]+)*", re.ASCII)
_NODE_NAME = re.compile(r"(?P<rank>0|[1-9][0-9]*)(\.(?P<attempt>[1-9][0-9]*))?")
_LOGFILE_NAME = re.compile(r"logfile(\.(?P<attempt>[1-9][0-9]*))?")
_LONGEST_VALUE = 40
_LONGEST_TRIAL_NAME = 200


@dataclass(frozen=True, slots=True)
class Layout:
    """Where things are in a project; all paths are relative to it, without a trailing slash."""

    @property
    def resources(self) -> str:
        """Folder of datasets and other input."""
        return "Resources"

    @property
    def notebooks(self) -> str:
        """Folder of notebooks."""
        return "Jupyter"

    @property
    def models(self) -> str:
        """Folder of exported models."""
        return "Models"

    @property
    def logs(self) -> str:
        """Folder with one folder for each application."""
        return "Logs/TensorFlow"

    @property
    def trash(self) -> str:
        """Folder of runs that were removed, with one folder for each time of removal."""
        return "Trash"

    def model(self, name: str, version: int) -> str:
        """Returns the folder of one version of a model."""
        return f"{self.models}/{check_name(name)}/{version}"

    def application(self, app_id: str) -> str:
        """Returns the folder of all runs that one Spark application started."""
        return f"{self.logs}/{check_name(app_id)}"

    def kind(self, app_id: str, kind: str) -> str:
        """Returns the folder of the runs of one kind, such as ``launcher`` or ``grid_search``."""
        return f"{self.application(app_id)}/{check_name(kind)}"

    def run(self, app_id: str, kind: str, number: int) -> RunPaths:
        """Returns the paths in one run's folder."""
        return RunPaths(f"{self.kind(app_id, kind)}/run.{number}")

    def removed(self, when: str, app_id: str, kind: str, number: int) -> RunPaths:
        """Returns the paths in the folder of a run that was removed at some time."""
        return RunPaths(
            f"{self.trash}/{check_name(when)}/{check_name(app_id)}/{check_name(kind)}/run.{number}"
        )


@dataclass(frozen=True, slots=True)
class RunPaths:
    """Where things are in the folder of a run or of a trial.

    Attributes:
        folder: The folder itself.
    """

    folder: str

    def __post_init__(self) -> None:
        check_file(self.folder)

    @property
    def record(self) -> str:
        """The run's record."""
        return f"{self.folder}/run.json"

    @property
    def study(self) -> str:
        """The record of a search."""
        return f"{self.folder}/study.json"

    @property
    def study_journal(self) -> str:
        """All that was decided and learnt in a search, in the form of Optuna's journal."""
        return f"{self.folder}/study.log"

    @property
    def trial_record(self) -> str:
        """The record of a trial, in its own folder."""
        return f"{self.folder}/trial.json"

    @property
    def metric(self) -> str:
        """The final metric as text, written at the end."""
        return f"{self.folder}/metric"

    @property
    def metrics(self) -> str:
        """Folder with one folder of metric segments for each rank and attempt."""
        return f"{self.folder}/metrics"

    @property
    def logs(self) -> str:
        """Folder with one folder of log segments for each rank and attempt."""
        return f"{self.folder}/logs"

    @property
    def nodes(self) -> str:
        """Folder with the outcome of each rank in each attempt."""
        return f"{self.folder}/nodes"

    @property
    def feeds(self) -> str:
        """Folder with what became of the rows of each partition, for each feed and epoch."""
        return f"{self.folder}/feeds"

    @property
    def checkpoints(self) -> str:
        """Folder that all attempts share: what the next one goes on from."""
        return f"{self.folder}/checkpoints"

    @property
    def reserved_names(self) -> frozenset[str]:
        """Patterns of the names in this folder that a user's file must not take; for `FolderSync`."""
        return RESERVED_NAMES

    def node_metrics(self, rank: int, attempt: int = 0) -> str:
        """Returns the folder of the metric segments of one node."""
        return f"{self.metrics}/{_node_name(rank, attempt)}"

    def node_logs(self, rank: int, attempt: int = 0) -> str:
        """Returns the folder of the log segments of one node."""
        return f"{self.logs}/{_node_name(rank, attempt)}"

    def node_logfile(self, rank: int, attempt: int = 0) -> str:
        """Returns the log of one node in one piece, written at its end."""
        return f"{self.node_logdir(rank)}/logfile{_suffix(attempt)}"

    def feed(self, number: int, epoch: int) -> str:
        """Returns the account of one epoch of one feed."""
        return f"{self.feeds}/{number}.{epoch}.json"

    def outcome(self, rank: int, attempt: int = 0) -> str:
        """Returns the record of how one node ended."""
        return f"{self.nodes}/{_node_name(rank, attempt)}.json"

    def node_logdir(self, rank: int) -> str:
        """Returns where the files of a node's log folder go: for rank 0 the run's folder itself."""
        return self.folder if rank == 0 else f"{self.folder}/node.{rank}"

    def inner(self, folder: str) -> RunPaths:
        """Returns the paths in a folder below this one: that of a trial, or of a generation of them."""
        return RunPaths(f"{self.folder}/{folder}")


def rank_and_attempt(name: str) -> tuple[int, int] | None:
    """Returns whose a file or folder below metrics, logs or nodes is, by its name; None if nobody's."""
    match = _NODE_NAME.fullmatch(name.removesuffix(".json"))
    return (int(match["rank"]), int(match["attempt"] or 0)) if match else None


def logfile_attempt(name: str) -> int | None:
    """Returns whose attempt's log a file in a node's folder is, by its name; None if it is no logfile."""
    match = _LOGFILE_NAME.fullmatch(name)
    return int(match["attempt"] or 0) if match else None


def _node_name(rank: int, attempt: int) -> str:
    return f"{rank}{_suffix(attempt)}"


def _suffix(attempt: int) -> str:
    return f".{attempt}" if attempt else ""


def trial_name(params: Mapping[str, object]) -> str:
    """Returns a folder name that reads as the hyper-parameters: ``learning_rate=0.001.dropout=0.45``.

    The order is that of the mapping. A value that is long or has unusual characters appears as a hash
    of itself, and so does the rest of a name that gets too long: parameters that print the same
    have the same name, others have others.
    """
    pairs = ((str(key), str(value)) for key, value in params.items())
    name = ".".join(f"{_readable(key, _SAFE_KEY)}={_readable(value, _SAFE_VALUE)}" for key, value in pairs)
    if not name:
        return "default"
    if len(name) > _LONGEST_TRIAL_NAME:
        return f"{name[:_LONGEST_TRIAL_NAME]}.{_digest(name)}"
    return name


def _readable(text: str, safe: re.Pattern[str]) -> str:
    return text if len(text) <= _LONGEST_VALUE and safe.fullmatch(text) else f"sha-{_digest(text)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]
