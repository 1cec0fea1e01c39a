"""Errors on executors: the function on its way there, processes, temporary files, ports, GPUs."""

from __future__ import annotations

from hopyard.errors.base import HopyardError


class NotPicklable(HopyardError, TypeError):
    """A function cannot travel to the executors because of something that it reaches."""

    culprit: str
    function: str
    cause: str
    text = (
        "the function {function!r} cannot be sent to the nodes: {culprit} cannot be pickled "
        "({cause}). Create it inside the function, or pass what it is made from."
    )


class SupervisorNotStarted(HopyardError, RuntimeError):
    """The process that was to look after a node beside its Spark task did not get so far."""

    cause: str
    last_lines: tuple[str, ...]

    def __str__(self) -> str:
        return f"its supervisor did not start: {self.cause}" + "".join(
            f"\n{line}" for line in self.last_lines
        )


class DriverOutOfReach(HopyardError, ConnectionError):
    """A node cannot reach the driver that started it."""

    address: str
    cause: str
    text = (
        "the driver cannot be reached at {address} ({cause}); set HOPYARD_NETWORK on the driver to "
        "its interface, address or network that executors can reach, or spark.driver.host."
    )


class ForgedOutcome(HopyardError, ValueError):
    """Somebody else than a supervisor of the run has sent a node's outcome to the driver, or changed it on its way."""

    source: str
    text = "{source} does not have the mark of this run; it is refused, as its value would be unpickled."


class BadMessage(HopyardError, ValueError):
    """Never leaves the library: a line on a node's channel is not one of ours.

    The line goes to the node's log, with this text.
    """

    line: str
    reason: str
    text = "the line {line} on a node's channel is not a message ({reason}); user code must not write there."


class ForeignScratch(HopyardError, PermissionError):
    """The place of the folder for temporary files is taken by something else."""

    path: str
    wrong: str
    text = (
        "{path} {wrong}; Hopyard keeps temporary files there. Remove it, or set TMPDIR to another "
        "folder of your own."
    )


class InvalidPorts(HopyardError, ValueError):
    """Something given as ports is none."""

    given: str
    text = (
        "{given} cannot be used as ports; give a port (8000), a range (8000-8010), a list (8000,8005), or 0."
    )


class InvalidDevices(HopyardError, ValueError):
    """Devices were asked for that no node can have."""

    value: str
    place: str
    remedy: str
    text = "{place}={value} cannot be used; {remedy}."


class TooFewGpus(HopyardError, RuntimeError):
    """A node wants more GPUs than it can ever get where it runs."""

    wanted: int
    found: int
    source: str
    remedy: str
    text = "a node needs {wanted} GPU(s), but there are {found} ({source}); {remedy}."


class NoFreeGpu(HopyardError, TimeoutError):
    """All GPUs that a node may use are taken by other nodes of this host."""

    wanted: str
    candidates: int
    seconds: float
    text = (
        "a node needs {wanted}, but other nodes on this host held too many of its {candidates} GPU(s) "
        "for {seconds:g} s. Run fewer nodes per host, ask for fewer GPUs or a smaller fraction, or wait for "
        "other runs to end."
    )


class LeaseFolderUnusable(HopyardError, OSError):
    """The folder in which the GPUs of a host are leased does not serve."""

    folder: str
    reason: str
    text = (
        "GPUs cannot be leased in {folder}: {reason}. Set HOPYARD_LEASE_FOLDER to a folder on a local "
        "disk that all users of this host can write to."
    )


class GpusUnknown(HopyardError, RuntimeError):
    """The program that lists the GPUs of a machine does not work."""

    program: str
    output: str
    text = "{program} did not list the GPUs of this machine: {output}"


class GpuMemoryNotLimited(HopyardError, RuntimeError):
    """A framework could not be kept to its share of a GPU's memory."""

    framework: str
    fraction: float
    cause: str
    text = "{framework} cannot be limited to {fraction:g} of the GPU's memory: {cause}"
