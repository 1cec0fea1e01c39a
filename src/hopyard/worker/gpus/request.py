"""The GPUs of a node: which it gets, and how its process is shown them and no others."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hopyard.errors import InvalidDevices, TooFewGpus
from hopyard.worker.gpus.inventory import NVIDIA_SMI, VISIBLE, Gpu, allowed_gpus, list_gpus
from hopyard.worker.gpus.lease import lease_gpus
from hopyard.worker.gpus.memory import memory_variables

ORDER = "CUDA_DEVICE_ORDER"
LEASE_FOLDER = "HOPYARD_LEASE_FOLDER"
# One place for all users and all their TMPDIRs, or they would not see each other's leases.
DEFAULT_LEASE_FOLDER = "/tmp/hopyard-gpus"  # noqa: S108


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceRequest:
    """The GPUs that a node wants.

    Attributes:
        gpus: How many. None leaves it to Spark: those that it gave to the task. 0 is none, wherever it runs.
        fraction: Share of one GPU, for nodes that use one together.
        unscheduled: What "leaving it to Spark" means where Spark schedules no GPUs: that many of the machine's,
            or all if it has fewer. None shows the node what the machine shows to every process.
    """

    gpus: int | None = None
    fraction: float | None = None
    unscheduled: int | None = None

    def __post_init__(self) -> None:
        if self.gpus is not None and (type(self.gpus) is not int or self.gpus < 0):
            raise InvalidDevices(
                repr(self.gpus), "gpus_per_node", "give a whole number of at least 0, or None"
            )
        if self.fraction is None:
            return
        if type(self.fraction) not in (int, float) or not 0 < self.fraction <= 1:
            raise InvalidDevices(repr(self.fraction), "gpu_fraction", "give a number above 0 and at most 1")
        if self.gpus not in (None, 1):
            remedy = f"a fraction is of one GPU, so leave gpus_per_node={self.gpus} out"
            raise InvalidDevices(repr(self.fraction), "gpu_fraction", remedy)

    @property
    def count(self) -> int | None:
        """How many GPUs there have to be; None if any number will do."""
        return 1 if self.fraction is not None else self.gpus


@contextmanager
def claim(
    request: DeviceRequest,
    *,
    given: Sequence[str] | None,
    environ: Mapping[str, str] = os.environ,
    wait_seconds: float = 10.0,
) -> Iterator[dict[str, str]]:
    """Gives the environment variables that show a node its GPUs; they are its own until the context ends.

    Args:
        request: What the node wants.
        given: Addresses of the GPUs that Spark gave to the node's task; None if Spark schedules no GPUs here.
        environ: The environment that the node would have otherwise.
        wait_seconds: How long to wait for GPUs that other nodes of this host hold.

    Raises:
        TooFewGpus: The task or the machine has fewer GPUs than the node wants.
        NoFreeGpu: The machine has enough, and other nodes hold them.
        GpusUnknown: nvidia-smi does not work.
        LeaseFolderUnusable: GPUs cannot be leased on this host.
    """
    if request.gpus == 0:
        yield {VISIBLE: ""}
    elif given is not None:
        yield _of_task(request, given, environ) | _memory(request, environ)
    elif request.count is None and request.unscheduled is None:
        yield {}  # what this machine and its administrator show to every process
    else:
        with _leased(request, environ, wait_seconds) as variables:
            yield variables


@contextmanager
def _leased(
    request: DeviceRequest, environ: Mapping[str, str], wait_seconds: float
) -> Iterator[dict[str, str]]:
    """Gives the variables that show GPUs of this machine, while they are leased."""
    gpus = _candidates(request.count or 0, environ)
    wanted = request.count or min(len(gpus), request.unscheduled or 0)
    if not wanted:
        yield {VISIBLE: ""}
        return
    folder = Path(environ.get(LEASE_FOLDER, DEFAULT_LEASE_FOLDER))
    share = 1.0 if request.fraction is None else float(request.fraction)
    with lease_gpus(gpus, wanted, fraction=share, folder=folder, wait_seconds=wait_seconds) as leased:
        # These numbers are those of nvidia-smi, which CUDA uses only if told so.
        shown = {VISIBLE: ",".join(str(gpu.index) for gpu in leased), ORDER: "PCI_BUS_ID"}
        yield shown | _memory(request, environ)


def _of_task(request: DeviceRequest, given: Sequence[str], environ: Mapping[str, str]) -> dict[str, str]:
    """Returns the variables that show as many of the task's GPUs as are wanted."""
    wanted = len(given) if request.count is None else request.count
    if len(given) < wanted:
        remedy = (
            f"set spark.executor.resource.gpu.amount and spark.task.resource.gpu.amount to {wanted} or more, "
            "or ask for fewer"
        )
        raise TooFewGpus(wanted, len(given), "those that Spark gave to its task", remedy)
    chosen = given[:wanted]
    shown = {VISIBLE: ",".join(chosen)}
    if chosen and ORDER not in environ and all(address.isdecimal() for address in chosen):
        shown[ORDER] = "PCI_BUS_ID"  # Spark's addresses are mostly found with nvidia-smi, which counts so
    return shown


def _candidates(wanted: int, environ: Mapping[str, str]) -> tuple[Gpu, ...]:
    """Returns the GPUs of this machine that the node may use."""
    installed = list_gpus(environ)
    allowed = allowed_gpus(installed, environ)
    if len(installed) < wanted:
        source = f"those that the {NVIDIA_SMI} on the PATH of this machine lists"
        raise TooFewGpus(wanted, len(installed), source, "ask for fewer, or run it on hosts with more GPUs")
    if len(allowed) < wanted:
        source = f"those of this machine that {VISIBLE}={environ[VISIBLE]!r} allows"
        raise TooFewGpus(wanted, len(allowed), source, "ask for fewer, or allow more of them there")
    return allowed


def _memory(request: DeviceRequest, environ: Mapping[str, str]) -> dict[str, str]:
    """Returns the variables that limit a node to its share of memory; a whole GPU has no limit."""
    if request.fraction is None or request.fraction == 1:
        return {}
    return memory_variables(request.fraction, environ)
