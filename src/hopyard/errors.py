"""Every exception class of Hopyard.

All descend from `HopyardError` and each is also the built-in that a caller would catch anyway. The
constructor takes raw fields and hands them to ``super().__init__`` unchanged, and the text is made in
``__str__``: that is what lets an error cross a process border by pickle.
"""

from __future__ import annotations


class HopyardError(Exception):
    """Root of all errors that Hopyard raises on purpose."""


# --- store -----------------------------------------------------------------------------------------


class InvalidName(HopyardError, ValueError):
    """A name or relative path that a project cannot hold."""

    def __init__(self, value: str, reason: str) -> None:
        super().__init__(value, reason)
        self.value = value
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.value!r} is not a valid name or path: {self.reason}."


class UnknownStorageOption(HopyardError, ValueError):
    """A storage option that the store of a project does not have."""

    def __init__(self, root: str, option: str, near: str | None, known: tuple[str, ...]) -> None:
        super().__init__(root, option, near, known)
        self.root = root
        self.option = option
        self.near = near
        self.known = known

    def __str__(self) -> str:
        if not self.known:
            return f"{self.root} takes no storage options, but got {self.option!r}; leave it out."
        guess = f"; did you mean {self.near!r}?" if self.near else "."
        return f"{self.root} has no storage option {self.option!r}{guess} It has {', '.join(self.known)}."


class OutsideProject(InvalidName):
    """A full path or URL that is not in the project."""

    def __init__(self, value: str, project: str) -> None:
        super().__init__(value, project)
        self.project = project

    def __str__(self) -> str:
        return f"{self.value!r} is not in the project {self.project}. Give a path in the project, in full or relative to it."


class PathNotFound(HopyardError, FileNotFoundError):
    """A path that a caller asked for is not in the store."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path

    def __str__(self) -> str:
        return f"{self.path} does not exist; check the path."


class AlreadyExists(HopyardError, FileExistsError):
    """A write-once path is taken."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path

    def __str__(self) -> str:
        return f"{self.path} already exists; choose another name, or pass overwrite=True."


class IsAFolder(HopyardError, IsADirectoryError):
    """A file was asked for, and the path is a folder."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path

    def __str__(self) -> str:
        return f"{self.path} is a folder; give the path of a file."


class NotAFolder(HopyardError, NotADirectoryError):
    """A folder was asked for, and the path, or a part of it, is a file."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path

    def __str__(self) -> str:
        return f"{self.path} must be a folder, but it, or a folder above it, is a file."


class FolderNotEmpty(HopyardError, OSError):
    """A folder that holds something was to be removed as an empty one."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path

    def __str__(self) -> str:
        return f"the folder {self.path} is not empty; pass recursive=True to remove it with its content."


class StoreFailed(HopyardError, OSError):
    """The store answered a call with an error that is none of the above, or not at all."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"the store failed at {self.path}: {self.reason}"


class StoreUnreachable(StoreFailed, ConnectionError):
    """The server of a project root did not answer the first call."""

    def __init__(self, path: str, reason: str, remedy: str) -> None:
        super().__init__(path, reason)
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.path} cannot be reached: {self.reason}. {self.remedy}."

    def __reduce__(self) -> tuple[type[StoreUnreachable], tuple[str, str, str]]:
        # OSError keeps two arguments of three
        return StoreUnreachable, (self.path, self.reason, self.remedy)


class RootUnusable(StoreFailed, PermissionError):
    """The root of a project is there but cannot hold one, or it cannot be made."""

    def __init__(self, path: str, reason: str, remedy: str) -> None:
        super().__init__(path, reason)
        self.remedy = remedy

    def __str__(self) -> str:
        return f"the project root {self.path} cannot be used: {self.reason}. {self.remedy}."

    def __reduce__(self) -> tuple[type[RootUnusable], tuple[str, str, str]]:
        # OSError keeps two arguments of three
        return RootUnusable, (self.path, self.reason, self.remedy)


class NotWritable(HopyardError, PermissionError):
    """A file cannot be written to a project."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return (
            f"{self.path} cannot be written: {self.reason}. Set HOPYARD_ROOT (or --root) to a folder that you may "
            "write to."
        )


class JournalTaken(HopyardError, RuntimeError):
    """Another process writes the journal that this one wants to write."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path

    def __str__(self) -> str:
        return (
            f"{self.path} is being written by another process; wait until that process has ended, or stop it."
        )


class FilesNotStored(HopyardError, OSError):
    """Files of a local folder did not all reach the project."""

    def __init__(self, folder: str, reasons: tuple[tuple[str, str], ...]) -> None:
        super().__init__(folder, reasons)
        self.folder = folder
        self.reasons = reasons

    def __str__(self) -> str:
        each = "; ".join(f"{path}: {reason}" for path, reason in self.reasons)
        count = "1 file" if len(self.reasons) == 1 else f"{len(self.reasons)} files"
        return f"{count} of {self.folder} could not be copied to the project: {each}"


class InvalidSetting(HopyardError, ValueError):
    """An environment variable or option has a value that cannot be used."""

    def __init__(self, setting: str, reason: str) -> None:
        super().__init__(setting, reason)
        self.setting = setting
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.setting} cannot be used: {self.reason}."


class UnsupportedStore(HopyardError, ValueError):
    """The URL of a project root names a protocol that nobody here speaks."""

    def __init__(self, url: str, known: str) -> None:
        super().__init__(url, known)
        self.url = url
        self.known = known

    def __str__(self) -> str:
        return f"{self.url!r} cannot be a project root; give a local path, or a URL that starts with one of: {self.known}."


class MissingDependency(HopyardError, ImportError):
    """A package that an optional part needs is not installed."""

    def __init__(self, package: str, needed_for: str, extra: str) -> None:
        super().__init__(package, needed_for, extra)
        self.package = package
        self.needed_for = needed_for
        self.extra = extra

    def __str__(self) -> str:
        return f"{self.needed_for} needs the package {self.package!r}: pip install 'hopyard[{self.extra}]'."


# --- foreign_package -------------------------------------------------------------------------------


class ForeignPackage(HopyardError, ImportError):
    """Another package of the same name shares its folder with a facade."""

    def __init__(self, package: str, version: str, requirement: str) -> None:
        super().__init__(package, version, requirement)
        self.package = package
        self.version = version
        self.requirement = requirement

    def __str__(self) -> str:
        return (
            f"PyPI's {self.package} {self.version} and Hopyard's {self.package} are both installed and overwrite each "
            f"other's files. Run: pip uninstall -y {self.package} && "
            f"pip install --force-reinstall --no-deps {self.requirement}"
        )


class DamagedFacade(HopyardError, ImportError):
    """Files of a facade are gone, because another package of the same name was uninstalled."""

    def __init__(self, package: str, requirement: str) -> None:
        super().__init__(package, requirement)
        self.package = package
        self.requirement = requirement

    def __str__(self) -> str:
        return (
            f"files of Hopyard's {self.package} are missing: uninstalling PyPI's {self.package} removed them. Run: "
            f"pip install --force-reinstall --no-deps {self.requirement}"
        )


# --- scratch ---------------------------------------------------------------------------------------


class ForeignScratch(HopyardError, PermissionError):
    """The place of the folder for temporary files is taken by something else."""

    def __init__(self, path: str, wrong: str) -> None:
        super().__init__(path, wrong)
        self.path = path
        self.wrong = wrong

    def __str__(self) -> str:
        return (
            f"{self.path} {self.wrong}; Hopyard keeps temporary files there. Remove it, or set TMPDIR to another "
            "folder of your own."
        )


# --- session ---------------------------------------------------------------------------------------


class InvalidSessionSetting(HopyardError, ValueError):
    """A setting of a session that cannot be used."""

    def __init__(self, field: str, value: str, remedy: str) -> None:
        super().__init__(field, value, remedy)
        self.field = field
        self.value = value
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.field} is {self.value}; {self.remedy}."


class JavaNotFound(HopyardError, RuntimeError):
    """Spark has no Java to run on."""

    def __init__(self, found: str, oldest: int) -> None:
        super().__init__(found, oldest)
        self.found = found
        self.oldest = oldest

    def __str__(self) -> str:
        return f"Spark needs Java {self.oldest} or newer, but {self.found}. Install one, or set JAVA_HOME to its folder."


class NotEnoughGpus(HopyardError, RuntimeError):
    """The machine has fewer GPUs than the executors of a session want."""

    def __init__(self, wanted: int, found: int, asked: str) -> None:
        super().__init__(wanted, found, asked)
        self.wanted = wanted
        self.found = found
        self.asked = asked

    def __str__(self) -> str:
        return (
            f"the executors need {self.wanted} GPUs in all, but this machine has {self.found} ({self.asked}). "
            "Ask for fewer executors or GPUs, or name another gpu_discovery_script."
        )


class SessionConflict(HopyardError, RuntimeError):
    """A session was asked for while another one is active."""

    def __init__(self, running: str, remedy: str) -> None:
        super().__init__(running, remedy)
        self.running = running
        self.remedy = remedy

    def __str__(self) -> str:
        return f"this process already runs {self.running}; {self.remedy}."


class SparkUnusable(HopyardError, RuntimeError):
    """There is a Spark, and Hopyard cannot work with it."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(reason, remedy)
        self.reason = reason
        self.remedy = remedy

    def __str__(self) -> str:
        return f"Hopyard cannot use this Spark: {self.reason}. {self.remedy}."


class SparkNotStarted(HopyardError, RuntimeError):
    """The embedded Spark did not come up."""

    def __init__(self, reason: str, log: str) -> None:
        super().__init__(reason, log)
        self.reason = reason
        self.log = log

    def __str__(self) -> str:
        return f"Spark did not start: {self.reason}. The end of its log:\n{self.log}"


# --- testing ---------------------------------------------------------------------------------------


class FetchFailed(HopyardError, RuntimeError):
    """The parts of a test server could not be downloaded."""

    def __init__(self, command: str, output: str) -> None:
        super().__init__(command, output)
        self.command = command
        self.output = output

    def __str__(self) -> str:
        return f"`{self.command}` failed; run it by hand to see whether the network is the cause. It said:\n{self.output}"


class ServerNotReady(HopyardError, TimeoutError):
    """A server did not become ready in time, or ended on the way."""

    def __init__(self, server: str, seconds: float, state: str, log: str) -> None:
        super().__init__(server, seconds, state, log)
        self.server = server
        self.seconds = seconds
        self.state = state
        self.log = log

    def __str__(self) -> str:
        return (
            f"{self.server} is not ready after {self.seconds:.0f} s ({self.state}). If it is only slow, raise "
            f"start_timeout_seconds. The end of its log:\n{self.log}"
        )

    def __reduce__(self) -> tuple[type[ServerNotReady], tuple[str, float, str, str]]:
        # OSError keeps three arguments at the most
        return ServerNotReady, (self.server, self.seconds, self.state, self.log)


# --- tracking --------------------------------------------------------------------------------------


class CorruptRecord(HopyardError, ValueError):
    """A stored record that cannot be understood."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.path} does not hold a readable record: {self.reason}."


class RunNotFound(HopyardError, LookupError):
    """No run of the project answers to a text."""

    def __init__(
        self, text: str, project: str, near: str | None = None, runs: tuple[str, ...] | None = None
    ) -> None:
        super().__init__(text, project, near, runs)
        self.text = text
        self.project = project
        self.near = near
        self.runs = runs

    def __str__(self) -> str:
        guess = f" Did you mean {self.near!r}?" if self.near else ""
        return (
            f"there is no run {self.text!r} in {self.project}.{guess}{self._there()} Give an id, the start or end of "
            "an id, a name, a folder, or 'last'; `hopyard runs` lists all runs."
        )

    def _there(self) -> str:
        if self.runs is None:
            return ""
        more = f" and {len(self.runs) - 5} more" if len(self.runs) > 5 else ""
        return f" Its runs: {', '.join(self.runs[:5])}{more}." if self.runs else " It has no runs yet."


class AmbiguousRun(HopyardError, LookupError):
    """More than one run of the project answers to a text."""

    def __init__(self, text: str, candidates: tuple[str, ...]) -> None:
        super().__init__(text, candidates)
        self.text = text
        self.candidates = candidates

    def __str__(self) -> str:
        shown = ", ".join(self.candidates[:10])
        more = f" and {len(self.candidates) - 10} more" if len(self.candidates) > 10 else ""
        return f"{self.text!r} fits {len(self.candidates)} runs: {shown}{more}. Give more of the id."


class RunIsRunning(HopyardError, RuntimeError):
    """A run that goes on was to be removed."""

    def __init__(self, run_id: str) -> None:
        super().__init__(run_id)
        self.run_id = run_id

    def __str__(self) -> str:
        return f"run {self.run_id} is still running. Wait for its end, or stop its program, then remove it."


class RunNumberTaken(HopyardError, FileExistsError):
    """A run cannot come back from the trash: there is another one with its id."""

    def __init__(self, run_id: str) -> None:
        super().__init__(run_id)
        self.run_id = run_id

    def __str__(self) -> str:
        return f"a newer run has the id {self.run_id}. Remove that one first."


class StudyNameTaken(HopyardError, FileExistsError):
    """A study cannot come back from the trash under a name that another one has."""

    def __init__(self, run_id: str, name: str, other: str) -> None:
        super().__init__(run_id, name, other)
        self.run_id = run_id
        self.name = name
        self.other = other

    def __str__(self) -> str:
        return (
            f"{self.run_id} cannot come back as {self.name!r}: the study {self.other} has this name. Give it another "
            f"one with `hopyard restore {self.run_id} --name NAME`, or remove {self.other} first."
        )

    def __reduce__(self) -> tuple[type[StudyNameTaken], tuple[str, str, str]]:
        # OSError keeps few arguments
        return type(self), (self.run_id, self.name, self.other)


class NotInTrash(HopyardError, LookupError):
    """No removed run answers to a text."""

    def __init__(self, text: str, project: str) -> None:
        super().__init__(text, project)
        self.text = text
        self.project = project

    def __str__(self) -> str:
        return f"there is no run {self.text!r} in the trash of {self.project}; `hopyard trash` lists those that are."


class RunEnded(HopyardError, RuntimeError):
    """A run that has ended was to be changed."""

    def __init__(self, run_id: str, state: str) -> None:
        super().__init__(run_id, state)
        self.run_id = run_id
        self.state = state

    def __str__(self) -> str:
        return f"run {self.run_id} has already ended ({self.state}); start a new run instead."


# --- cluster ---------------------------------------------------------------------------------------


class NotPicklable(HopyardError, TypeError):
    """A function cannot travel to the executors because of something that it reaches."""

    def __init__(self, culprit: str, function: str, cause: str) -> None:
        super().__init__(culprit, function, cause)
        self.culprit = culprit
        self.function = function
        self.cause = cause

    def __str__(self) -> str:
        return (
            f"the function {self.function!r} cannot be sent to the nodes: {self.culprit} cannot be pickled "
            f"({self.cause}). Create it inside the function, or pass what it is made from."
        )


class NodeFailed(HopyardError, RuntimeError):
    """A node's function did not return: it raised, its process died, or its executor was lost."""

    def __init__(
        self, rank: int, role: str, host: str, message: str, trace: str, tail: tuple[str, ...]
    ) -> None:
        super().__init__(rank, role, host, message, trace, tail)
        self.rank = rank
        self.role = role
        self.host = host
        self.message = message
        self.trace = trace
        self.tail = tail

    def __str__(self) -> str:
        first, *more = self.message.split("\n")
        # a message that fills a screen stands at the end of the traceback, too
        is_told = len(more) > 5 and self.trace and self.message.partition(": ")[2] in self.trace
        message = first if is_told else self.message
        text = f"node {self.rank} ({self.role}) on {self.host} failed: {message}"
        if self.trace:
            text += f"\n\nTraceback on the node:\n{self.trace.rstrip()}"
        if self.tail:
            text += "\n\nLast lines of its output:\n" + "\n".join(f"    {line}" for line in self.tail)
        return text


class BackendFailed(HopyardError, RuntimeError):
    """What was to run the nodes broke down itself."""

    def __init__(self, backend: str, cause: str) -> None:
        super().__init__(backend, cause)
        self.backend = backend
        self.cause = cause

    def __str__(self) -> str:
        return f"the {self.backend} backend could not run the nodes: {self.cause}"


class InvalidPlan(HopyardError, ValueError):
    """A run was asked for whose nodes do not fit together."""

    def __init__(self, given: str, remedy: str) -> None:
        super().__init__(given, remedy)
        self.given = given
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.given} is not valid: {self.remedy}."


class NodesMissing(HopyardError, TimeoutError):
    """Not all nodes of a run arrived in time."""

    def __init__(self, missing: tuple[str, ...], size: int, seconds: float) -> None:
        super().__init__(missing, size, seconds)
        self.missing = missing
        self.size = size
        self.seconds = seconds

    def __str__(self) -> str:
        shown = ", ".join(self.missing[:10]) + (", ..." if len(self.missing) > 10 else "")
        return (
            f"{self.size - len(self.missing)} of {self.size} nodes arrived within {self.seconds:g} s; missing: "
            f"{shown}. Ask for fewer nodes, free slots that other jobs hold, or raise start_timeout."
        )


class NoProgress(HopyardError, TimeoutError):
    """The nodes of a run are alive, and none has done anything for a long time."""

    def __init__(self, seconds: float, last: tuple[str, ...]) -> None:
        super().__init__(seconds, last)
        self.seconds = seconds
        self.last = last

    def __str__(self) -> str:
        return (
            f"no node printed or reported anything for {self.seconds:g} s, so the run was stopped; "
            f"last seen: {'; '.join(self.last[:10])}. Raise timeout if the nodes may be silent for longer."
        )


class DriverOutOfReach(HopyardError, ConnectionError):
    """A node cannot reach the driver that started it."""

    def __init__(self, address: str, cause: str) -> None:
        super().__init__(address, cause)
        self.address = address
        self.cause = cause

    def __str__(self) -> str:
        return (
            f"the driver cannot be reached at {self.address} ({self.cause}); set HOPYARD_NETWORK on the driver to "
            "its interface, address or network that executors can reach, or spark.driver.host."
        )


class SupervisorNotStarted(HopyardError, RuntimeError):
    """The process that was to look after a node beside its Spark task did not get so far."""

    def __init__(self, cause: str, last_lines: tuple[str, ...]) -> None:
        super().__init__(cause, last_lines)
        self.cause = cause
        self.last_lines = last_lines

    def __str__(self) -> str:
        return f"its supervisor did not start: {self.cause}" + "".join(
            f"\n{line}" for line in self.last_lines
        )


class NotEnoughSlots(HopyardError, RuntimeError):
    """Spark cannot run all nodes of a plan at the same time, or its executors did not come in time."""

    def __init__(self, needed: int, slots: str, found: int, spark: str, remedy: str) -> None:
        super().__init__(needed, slots, found, spark, remedy)
        self.needed = needed
        self.slots = slots
        self.found = found
        self.spark = spark
        self.remedy = remedy

    def __str__(self) -> str:
        return (
            f"the plan needs {self.needed} {self.slots}, this Spark has {self.found} ({self.spark}). "
            f"Ask for fewer nodes, or {self.remedy}."
        )


class BadMessage(HopyardError, ValueError):
    """A line on a node's channel that is not one of ours."""

    def __init__(self, line: str, reason: str) -> None:
        super().__init__(line, reason)
        self.line = line
        self.reason = reason

    def __str__(self) -> str:
        return f"the line {self.line} on a node's channel is not a message ({self.reason}); user code must not write there."


class UnknownBackend(HopyardError, ValueError):
    """The name of a backend that there is none of."""

    def __init__(self, value: str) -> None:
        super().__init__(value)
        self.value = value

    def __str__(self) -> str:
        return f"{self.value!r} is not a backend; choose 'spark', 'processes' or 'inline'."


class InvalidDevices(HopyardError, ValueError):
    """Devices were asked for that no node can have."""

    def __init__(self, value: str, place: str, remedy: str) -> None:
        super().__init__(value, place, remedy)
        self.value = value
        self.place = place
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.place}={self.value} cannot be used; {self.remedy}."


class TooFewGpus(HopyardError, RuntimeError):
    """A node wants more GPUs than it can ever get where it runs."""

    def __init__(self, wanted: int, found: int, source: str, remedy: str) -> None:
        super().__init__(wanted, found, source, remedy)
        self.wanted = wanted
        self.found = found
        self.source = source
        self.remedy = remedy

    def __str__(self) -> str:
        return (
            f"a node needs {self.wanted} GPU(s), but there are {self.found} ({self.source}); {self.remedy}."
        )


class NoFreeGpu(HopyardError, TimeoutError):
    """All GPUs that a node may use are taken by other nodes of this host."""

    def __init__(self, wanted: str, candidates: int, seconds: float) -> None:
        super().__init__(wanted, candidates, seconds)
        self.wanted = wanted
        self.candidates = candidates
        self.seconds = seconds

    def __str__(self) -> str:
        return (
            f"a node needs {self.wanted}, but other nodes on this host held too many of its {self.candidates} GPU(s) "
            f"for {self.seconds:g} s. Run fewer nodes per host, ask for fewer GPUs or a smaller fraction, or wait for "
            "other runs to end."
        )

    def __reduce__(self) -> tuple[type[NoFreeGpu], tuple[str, int, float]]:
        # OSError takes a third argument for the name of a file
        return type(self), (self.wanted, self.candidates, self.seconds)


class LeaseFolderUnusable(HopyardError, OSError):
    """The folder in which the GPUs of a host are leased does not serve."""

    def __init__(self, folder: str, reason: str) -> None:
        super().__init__(folder, reason)
        self.folder = folder
        self.reason = reason

    def __str__(self) -> str:
        return (
            f"GPUs cannot be leased in {self.folder}: {self.reason}. Set HOPYARD_LEASE_FOLDER to a folder on a local "
            "disk that all users of this host can write to."
        )


class GpusUnknown(HopyardError, RuntimeError):
    """The program that lists the GPUs of a machine does not work."""

    def __init__(self, program: str, output: str) -> None:
        super().__init__(program, output)
        self.program = program
        self.output = output

    def __str__(self) -> str:
        return f"{self.program} did not list the GPUs of this machine: {self.output}"


class GpuMemoryNotLimited(HopyardError, RuntimeError):
    """A framework could not be kept to its share of a GPU's memory."""

    def __init__(self, framework: str, fraction: float, cause: str) -> None:
        super().__init__(framework, fraction, cause)
        self.framework = framework
        self.fraction = fraction
        self.cause = cause

    def __str__(self) -> str:
        return f"{self.framework} cannot be limited to {self.fraction:g} of the GPU's memory: {self.cause}"


# --- feed ------------------------------------------------------------------------------------------


class NotFed(HopyardError, RuntimeError):
    """A feed was asked for where there is none."""

    def __init__(self, wanted: str, reason: str) -> None:
        super().__init__(wanted, reason)
        self.wanted = wanted
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.wanted} is not possible: {self.reason}."


class Superseded(HopyardError, RuntimeError):
    """A Spark task feeds a partition that a later attempt of the same task has taken over."""

    def __init__(self, partition: int, attempt: int) -> None:
        super().__init__(partition, attempt)
        self.partition = partition
        self.attempt = attempt

    def __str__(self) -> str:
        return f"a later attempt replaced attempt {self.attempt} to feed partition {self.partition}."


class NodesReplaced(HopyardError, RuntimeError):
    """Nodes that were being fed have been started again, and know nothing of what their predecessors got."""

    def __init__(self, attempt: int) -> None:
        super().__init__(attempt)
        self.attempt = attempt

    def __str__(self) -> str:
        return f"the nodes were started again, attempt {self.attempt}."


class FeedStalled(HopyardError, TimeoutError):
    """Rows wait to be consumed, and no node consumes any."""

    def __init__(self, seconds: float, nodes: tuple[str, ...]) -> None:
        super().__init__(seconds, nodes)
        self.seconds = seconds
        self.nodes = nodes

    def __str__(self) -> str:
        return (
            f"no node has read a row for {self.seconds:g} s, although rows wait: {'; '.join(self.nodes)}. "
            "See what the nodes do (hopyard logs), or raise feed_timeout."
        )


class NothingFed(HopyardError, RuntimeError):
    """Rows were to tell what all rows look like, and there are none."""

    def __init__(self, asked_by: str) -> None:
        super().__init__(asked_by)
        self.asked_by = asked_by

    def __str__(self) -> str:
        return (
            f"the feed ended without a row for this node, so {self.asked_by} does not know which columns there are. "
            "Feed at least one row for each node (df.repartition), or use next_batch()."
        )


class NoMoreEpochs(HopyardError, RuntimeError):
    """A function asks for more epochs than were fed."""

    def __init__(self, fed: int) -> None:
        super().__init__(fed)
        self.fed = fed

    def __str__(self) -> str:
        return (
            f"the function asked for epoch {self.fed + 1}, but the feed has only {self.fed}. "
            f"Feed more (cluster.train(..., epochs={self.fed + 1})), or read as many as come: "
            "for epoch in feed.epochs()."
        )


class EmptyEpoch(HopyardError, RuntimeError):
    """An epoch had no row for a node, where a framework would take that for a result."""

    def __init__(self, asked_by: str, epoch: int) -> None:
        super().__init__(asked_by, epoch)
        self.asked_by = asked_by
        self.epoch = epoch

    def __str__(self) -> str:
        return (
            f"epoch {self.epoch} had no row for this node, and {self.asked_by} gives no dataset without rows. "
            "Feed more rows or partitions (df.repartition), or use fewer nodes."
        )


class FeedNotRead(HopyardError, RuntimeError):
    """A function returned before it had read what it was fed."""

    def __init__(self, consumed: int, left: str) -> None:
        super().__init__(consumed, left)
        self.consumed = consumed
        self.left = left

    def __str__(self) -> str:
        return (
            f"the function returned after {self.consumed} rows of its feed and left {self.left} unread. "
            "Read the rows of all epochs (for epoch in feed.epochs(): for batch in epoch.as_numpy(32): ...), or call "
            "feed.terminate() if it is meant to end early. "
            "With Keras's fit(steps_per_epoch=...), give it dataset.repeat()."
        )


class ResultsMissing(HopyardError, RuntimeError):
    """A function goes on, or returns, without results for rows that it has read."""

    def __init__(self, action: str, rows: int) -> None:
        super().__init__(action, rows)
        self.action = action
        self.rows = rows

    def __str__(self) -> str:
        return (
            f"the function {self.action}, but {self.rows} rows have no results yet. "
            "Call feed.batch_results(...) once for each batch."
        )


class RowsDiffer(HopyardError, ValueError):
    """Rows came that are not like the first ones."""

    def __init__(self, column: str, expected: str, found: str, remedy: str) -> None:
        super().__init__(column, expected, found, remedy)
        self.column = column
        self.expected = expected
        self.found = found
        self.remedy = remedy

    def __str__(self) -> str:
        return f"column {self.column!r} began with {self.expected}, but later rows have {self.found}; {self.remedy}."


class FeedMiscounted(HopyardError, RuntimeError):
    """The rows that nodes have received are not those that were sent."""

    def __init__(self, epoch: int, partitions: tuple[str, ...]) -> None:
        super().__init__(epoch, partitions)
        self.epoch = epoch
        self.partitions = partitions

    def __str__(self) -> str:
        shown = "; ".join(self.partitions[:5]) + ("; ..." if len(self.partitions) > 5 else "")
        return f"epoch {self.epoch}: rows sent and received differ in {len(self.partitions)} partitions ({shown})."


class WrongResults(HopyardError, ValueError):
    """A batch got more or fewer results than it has rows."""

    def __init__(self, batch: str, rows: int, results: int) -> None:
        super().__init__(batch, rows, results)
        self.batch = batch
        self.rows = rows
        self.results = results

    def __str__(self) -> str:
        if not self.rows:
            return f"{self.batch} waits for results, but {self.results} came; call batch_results once for each batch."
        return f"{self.batch} has {self.rows} rows but got {self.results} results; give one for each row."


class FeedJobFailed(HopyardError, RuntimeError):
    """The Spark job that computes the rows failed."""

    def __init__(self, cause: str) -> None:
        super().__init__(cause)
        self.cause = cause

    def __str__(self) -> str:
        return f"Spark could not compute the rows to feed: {self.cause}"


class WrongEpochState(HopyardError, RuntimeError):
    """Something was asked of a kept epoch that it cannot do now."""

    def __init__(self, state: str, asked: str) -> None:
        super().__init__(state, asked)
        self.state = state
        self.asked = asked

    def __str__(self) -> str:
        return f"the epoch that is kept on this host is {self.state} and cannot {self.asked}."


class NotInStep(HopyardError, LookupError):
    """A node that is none of those that train in step asked for a batch."""

    def __init__(self, rank: int, ranks: tuple[int, ...]) -> None:
        super().__init__(rank, ranks)
        self.rank = rank
        self.ranks = ranks

    def __str__(self) -> str:
        return f"node {self.rank} does not train in step; those that do: {', '.join(map(str, self.ranks))}."


class NothingToRepeat(HopyardError, RuntimeError):
    """Nodes got no row at all, and were to repeat some of theirs to keep step with the others."""

    def __init__(self, ranks: tuple[int, ...]) -> None:
        super().__init__(ranks)
        self.ranks = ranks

    def __str__(self) -> str:
        nodes = ("node " if len(self.ranks) == 1 else "nodes ") + ", ".join(map(str, self.ranks))
        return (
            f"no row was fed to {nodes}, so there is nothing to repeat while the others finish theirs "
            "(uneven='pad'). Feed more rows, spread them over more partitions (df.repartition), or use fewer nodes."
        )


class NoWholeBatch(HopyardError, RuntimeError):
    """Nodes got less than a batch, so that no node can take one in step with the others."""

    def __init__(self, ranks: tuple[int, ...], rows: tuple[int, ...]) -> None:
        super().__init__(ranks, rows)
        self.ranks = ranks
        self.rows = rows

    def __str__(self) -> str:
        who = ", ".join(
            f"node {rank} got {rows} rows" for rank, rows in zip(self.ranks, self.rows, strict=True)
        )
        return (
            f"{who}: less than one batch, so that no node can take a batch in step with the others (uneven=). "
            "Use smaller batches, spread the rows over more partitions (df.repartition), or use fewer nodes."
        )


class UnknownColumns(HopyardError, KeyError):
    """Columns were named that the rows do not have."""

    def __init__(self, names: tuple[str, ...], available: tuple[str, ...]) -> None:
        super().__init__(names, available)
        self.names = names
        self.available = available

    def __str__(self) -> str:
        return f"there is no column {', '.join(self.names)}; choose from {', '.join(self.available)}."


class DuplicateColumns(HopyardError, ValueError):
    """Several columns have the same name, so that a name does not tell which one is meant."""

    def __init__(self, names: tuple[str, ...]) -> None:
        super().__init__(names)
        self.names = names

    def __str__(self) -> str:
        return f"several columns are called {', '.join(self.names)}; rename or drop some (df.toDF, df.drop)."


class NullValues(HopyardError, ValueError):
    """A column has nulls, and its array has no room for them."""

    def __init__(self, column: str, count: int, kind: str, example: str) -> None:
        super().__init__(column, count, kind, example)
        self.column = column
        self.count = count
        self.kind = kind
        self.example = example

    def __str__(self) -> str:
        return (
            f"column {self.column!r} has {self.count} null(s) of type {self.kind} in one batch, and an array cannot hold "
            f"them. Say what stands for a null (fill_nulls={{{self.column!r}: {self.example}}}), or have Spark fill or "
            "drop them before (df.fillna, df.na.drop)."
        )


class FillDoesNotFit(HopyardError, ValueError):
    """What shall stand for the nulls of a column is no value of that column."""

    def __init__(self, column: str, fill: str, kind: str, reason: str) -> None:
        super().__init__(column, fill, kind, reason)
        self.column = column
        self.fill = fill
        self.kind = kind
        self.reason = reason

    def __str__(self) -> str:
        return (
            f"{self.fill} cannot stand for the nulls of column {self.column!r} ({self.kind}): {self.reason}."
        )


class InvalidVectors(HopyardError, ValueError):
    """The vectors of a column do not make a matrix."""

    def __init__(self, column: str, reason: str) -> None:
        super().__init__(column, reason)
        self.column = column
        self.reason = reason

    def __str__(self) -> str:
        return f"the vectors of column {self.column!r} do not make a matrix: {self.reason}."


# --- training --------------------------------------------------------------------------------------


class NoActiveSpark(HopyardError, RuntimeError):
    """A launch needs Spark, and no session is active in this process."""

    def __str__(self) -> str:
        return (
            "no SparkSession is active in this process. Start one (spark = hopyard.local_spark()), pass "
            "spark=..., or run without Spark: backend='processes'."
        )


class BadArguments(HopyardError, TypeError):
    """The arguments of a launch do not fit the function."""

    def __init__(self, function: str, reason: str) -> None:
        super().__init__(function, reason)
        self.function = function
        self.reason = reason

    def __str__(self) -> str:
        return f"wrong arguments for {self.function}(): {self.reason}."


class BadReport(HopyardError, TypeError):
    """A training function reported something that is no metric of a step."""

    def __init__(self, what: str, value: str, remedy: str) -> None:
        super().__init__(what, value, remedy)
        self.what = what
        self.value = value
        self.remedy = remedy

    def __str__(self) -> str:
        return f"report() cannot record this: {self.what} is {self.value}. {self.remedy}."


class NotStarted(HopyardError, RuntimeError):
    """Something was asked of a cluster that has not been started."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return f"the cluster of {self.name!r} has not been started; use it in a with statement, or call start() first."


class AlreadyStarted(HopyardError, RuntimeError):
    """A cluster was to be started a second time."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return f"the cluster of {self.name!r} has already been started; make a new Cluster for another run."


class EndNotRecorded(HopyardError, OSError):
    """All nodes of a run returned, and the store did not take the record of that."""

    def __init__(self, run_id: str, cause: str, rescued: str) -> None:
        super().__init__(run_id, cause, rescued)
        self.run_id = run_id
        self.cause = cause
        self.rescued = rescued

    def __str__(self) -> str:
        rescued = f"; {self.rescued}" if self.rescued else ""
        return f"run {self.run_id} ended well, but that could not be recorded ({self.cause}){rescued}"

    def __reduce__(self) -> tuple[type[EndNotRecorded], tuple[str, str, str]]:
        # OSError keeps two arguments of three
        return EndNotRecorded, (self.run_id, self.cause, self.rescued)


class StillRunning(HopyardError, TimeoutError):
    """The nodes of a run had not ended when the patience of a wait was over; they go on."""

    def __init__(self, run_id: str, seconds: float) -> None:
        super().__init__(run_id, seconds)
        self.run_id = run_id
        self.seconds = seconds

    def __str__(self) -> str:
        return f"run {self.run_id} is still running after {self.seconds:g} s; raise timeout, or call stop()."


class StillStreaming(StillRunning):
    """A stream that was to end, or to be waited for, goes on; so does the run."""

    def __init__(self, run_id: str, seconds: float, batches: int) -> None:
        super().__init__(run_id, seconds)
        self.args = (run_id, seconds, batches)
        self.batches = batches

    def __str__(self) -> str:
        return (
            f"a stream still feeds run {self.run_id} after {self.seconds:g} s, {self.batches} batches so far; raise "
            "timeout, or call stop() on the cluster, which also ends the current batch."
        )


class StreamFailed(HopyardError, RuntimeError):
    """A stream that fed a run could not be read any further."""

    def __init__(self, cause: str) -> None:
        super().__init__(cause)
        self.cause = cause

    def __str__(self) -> str:
        return f"reading the stream failed: {self.cause}"


class StreamClosed(HopyardError, RuntimeError):
    """A micro-batch came when the nodes were to get no more."""

    def __init__(self, batch: int) -> None:
        super().__init__(batch)
        self.batch = batch

    def __str__(self) -> str:
        return (
            f"micro-batch {self.batch} was only fed in part: the stream was stopped, or no node takes rows."
        )


class RunStopped(HopyardError, RuntimeError):
    """A run was ended before its time."""

    def __init__(self, run_id: str, reason: str) -> None:
        super().__init__(run_id, reason)
        self.run_id = run_id
        self.reason = reason

    def __str__(self) -> str:
        return f"run {self.run_id} was stopped: {self.reason}."


class NotInsideRun(HopyardError, RuntimeError):
    """Something that only a running training function has was asked for elsewhere."""

    def __init__(self, asked: str) -> None:
        super().__init__(asked)
        self.asked = asked

    def __str__(self) -> str:
        return (
            f"{self.asked} exists only on a node; ask for it inside the function that hopyard.launch() runs."
        )


# --- search ----------------------------------------------------------------------------------------


class InvalidSpace(HopyardError, ValueError):
    """A parameter of a search's space that cannot be searched."""

    def __init__(self, parameter: str, value: str, remedy: str) -> None:
        super().__init__(parameter, value, remedy)
        self.parameter = parameter
        self.value = value
        self.remedy = remedy

    def __str__(self) -> str:
        return f"the parameter {self.parameter!r} cannot be searched: it is {self.value}. {self.remedy}."


class InvalidSearch(HopyardError, ValueError):
    """A search was asked for something that cannot be, or that does not fit together."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(what, remedy)
        self.what = what
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.what}. {self.remedy}."


class TrialStopped(HopyardError, RuntimeError):
    """A trial ends early: raised by a training function, or for it, once the trial is not worth going on with."""

    def __init__(self, step: int) -> None:
        super().__init__(step)
        self.step = step

    def __str__(self) -> str:
        return f"the trial was stopped at step {self.step}: other trials do better."


class BadResult(HopyardError, ValueError):
    """A trial's function returned something that cannot be compared."""

    def __init__(self, value: str, remedy: str) -> None:
        super().__init__(value, remedy)
        self.value = value
        self.remedy = remedy

    def __str__(self) -> str:
        return f"the function returned {self.value}. {self.remedy}."


class TrialTimeout(HopyardError, TimeoutError):
    """A trial took longer than it may."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds

    def __str__(self) -> str:
        return f"the trial took longer than {self.seconds:g} s. Allow more with trial_timeout=."


class StudyFailed(HopyardError, RuntimeError):
    """A study was given up, since its trials fail."""

    def __init__(self, study: str, trials: int, error: str, trace: str) -> None:
        super().__init__(study, trials, error, trace)
        self.study = study
        self.trials = trials
        self.error = error
        self.trace = trace

    def __str__(self) -> str:
        trace = f"\n\nTraceback of the last one:\n{self.trace.rstrip()}" if self.trace else ""
        return (
            f"the study {self.study} was stopped: its first {self.trials} trials all failed with the same error: "
            f"{self.error.rstrip('.')}. Fix the function, then go on with resume=True or start again under another "
            f"name; same_failures= allows more failures.{trace}"
        )


class NothingFound(HopyardError, LookupError):
    """A study has no trial of the kind that was asked for."""

    def __init__(self, what: str, study: str, trials: int) -> None:
        super().__init__(what, study, trials)
        self.what = what
        self.study = study
        self.trials = trials

    def __str__(self) -> str:
        if not self.trials:
            return f"the study {self.study} has no {self.what}: it has no trials yet. Look again later."
        return (
            f"the study {self.study} has no {self.what}: none of its {self.trials} trials ended with a value. "
            "Their errors are in `study.trials`."
        )


class StudyBusy(HopyardError, RuntimeError):
    """A study is to be started or resumed while another driver may still be at it."""

    def __init__(self, study: str, driver: str, seconds: float, wait_seconds: float) -> None:
        super().__init__(study, driver, seconds, wait_seconds)
        self.study = study
        self.driver = driver
        self.seconds = seconds
        self.wait_seconds = wait_seconds

    def __str__(self) -> str:
        wait = f", or wait {self.wait_seconds:.0f} s if it is dead" if self.wait_seconds else ""
        return (
            f"another program is running the study {self.study}: {self.driver}, which last wrote {self.seconds:.0f} s "
            f"ago. Stop that program, or give this study another name{wait}."
        )


class StudyExists(HopyardError, ValueError):
    """A new study was to have the name of another one."""

    def __init__(self, name: str, study: str, trials: int) -> None:
        super().__init__(name, study, trials)
        self.name = name
        self.study = study
        self.trials = trials

    def __str__(self) -> str:
        return (
            f"there is already a study {self.name!r}: {self.study}, trials: {self.trials}. Continue it with resume=True "
            "(--resume), or choose another name."
        )


class StudyNotFound(HopyardError, LookupError):
    """A study was to be resumed that is not there."""

    def __init__(self, name: str, project: str, names: tuple[str, ...]) -> None:
        super().__init__(name, project, names)
        self.name = name
        self.project = project
        self.names = names

    def __str__(self) -> str:
        shown = ", ".join(self.names[:10])
        more = f" and {len(self.names) - 10} more" if len(self.names) > 10 else ""
        there = f"Its studies: {shown}{more}." if self.names else "It has no studies yet."
        return (
            f"there is no study {self.name!r} to resume in {self.project}. {there} To start a new one, "
            "leave out resume (--resume), or use resume='if_exists'."
        )


# --- wire ------------------------------------------------------------------------------------------


class PeerGone(HopyardError, ConnectionError):
    """The other end of the wire cannot be reached or went away during an exchange."""

    def __init__(self, peer: str, doing: str, reason: str) -> None:
        super().__init__(peer, doing, reason)
        self.peer = peer
        self.doing = doing
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.peer} is gone ({self.doing}): {self.reason}. See the log of that process for why it ended."


class PeerNotTrusted(HopyardError, ConnectionError):
    """The server shows another certificate than the one in its endpoint."""

    def __init__(self, peer: str, doing: str) -> None:
        super().__init__(peer, doing)
        self.peer = peer
        self.doing = doing

    def __str__(self) -> str:
        return (
            f"{self.peer} did not show the certificate of this run ({self.doing}): nothing was sent to it. "
            f"The endpoint may belong to another run, or a proxy may be in between."
        )


class WireTimeout(HopyardError, TimeoutError):
    """The other end of the wire did not answer in time."""

    def __init__(self, peer: str, doing: str, seconds: float, setting: str) -> None:
        super().__init__(peer, doing, seconds, setting)
        self.peer = peer
        self.doing = doing
        self.seconds = seconds
        self.setting = setting

    def __str__(self) -> str:
        return f"{self.peer} did not finish within {self.seconds:g} s ({self.doing}); raise {self.setting} to wait longer."

    def __reduce__(self) -> tuple[type[WireTimeout], tuple[str, str, float, str]]:
        # OSError keeps three arguments at the most
        return type(self), (self.peer, self.doing, self.seconds, self.setting)


class NotAuthenticated(HopyardError, PermissionError):
    """The server did not accept the token."""

    def __init__(self, peer: str, doing: str) -> None:
        super().__init__(peer, doing)
        self.peer = peer
        self.doing = doing

    def __str__(self) -> str:
        return f"{self.peer} did not accept the token ({self.doing}); the endpoint belongs to another run."


class RemoteError(HopyardError, RuntimeError):
    """The service at the other end raised; its traceback is in the log over there."""

    def __init__(self, peer: str, doing: str, kind: str, message: str) -> None:
        super().__init__(peer, doing, kind, message)
        self.peer = peer
        self.doing = doing
        self.kind = kind
        self.message = message

    def __str__(self) -> str:
        return f"{self.peer} failed ({self.doing}): {self.kind}: {self.message}"


class UnknownMethod(HopyardError, LookupError):
    """No service answers to this method or stream."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return f"there is no method or stream {self.name!r}; check that both ends run the same version of Hopyard."


class InvalidMessage(HopyardError, ValueError):
    """A control message is not a JSON object."""

    def __init__(self, doing: str, reason: str) -> None:
        super().__init__(doing, reason)
        self.doing = doing
        self.reason = reason

    def __str__(self) -> str:
        return f"the message is not a JSON object ({self.doing}): {self.reason}."


class MessageTooLarge(HopyardError, ValueError):
    """A control message is larger than the wire carries."""

    def __init__(self, doing: str, size: int, limit: int) -> None:
        super().__init__(doing, size, limit)
        self.doing = doing
        self.size = size
        self.limit = limit

    def __str__(self) -> str:
        return (
            f"a control message of {self.size} bytes is over the limit of {self.limit} ({self.doing}); "
            f"send bulk data as a stream, or raise max_message_bytes at both ends."
        )


class SchemaMismatch(HopyardError, ValueError):
    """A record batch has another schema than its stream."""

    def __init__(self, doing: str, expected: str, given: str) -> None:
        super().__init__(doing, expected, given)
        self.doing = doing
        self.expected = expected
        self.given = given

    def __str__(self) -> str:
        return f"the columns of a batch differ from those of its stream ({self.doing}): {self.given} instead of {self.expected}."


class NoSuchAddress(HopyardError, OSError):
    """This machine has no address of the kind that was asked for."""

    def __init__(self, wanted: str, available: str) -> None:
        super().__init__(wanted, available)
        self.wanted = wanted
        self.available = available

    def __str__(self) -> str:
        return (
            f"no address of this machine matches {self.wanted!r}; there is {self.available}. "
            f"Set HOPYARD_NETWORK to an interface, an address or a network such as 10.0.0.0/8."
        )


class PortsTaken(HopyardError, OSError):
    """Every port that a server may use is in use."""

    def __init__(self, address: str, ports: tuple[int, ...]) -> None:
        super().__init__(address, ports)
        self.address = address
        self.ports = ports

    def __str__(self) -> str:
        is_range = len(self.ports) > 1 and list(self.ports) == list(range(self.ports[0], self.ports[-1] + 1))
        some = f"{self.ports[0]} to {self.ports[-1]}" if is_range else ", ".join(map(str, self.ports))
        word = "port" if len(self.ports) == 1 else "ports"
        return (
            f"no free port at {self.address} in the {word} {some}; allow more ports, or 0 for any free one."
        )


class InvalidPorts(HopyardError, ValueError):
    """Something given as ports is none."""

    def __init__(self, given: str) -> None:
        super().__init__(given)
        self.given = given

    def __str__(self) -> str:
        return f"{self.given} cannot be used as ports; give a port (8000), a range (8000-8010), a list (8000,8005), or 0."


# --- facades ---------------------------------------------------------------------------------------


class NotOffered(HopyardError, NotImplementedError):
    """Something that an old library had and its facade has not, or not on this store."""

    def __init__(self, feature: str, reason: str) -> None:
        super().__init__(feature, reason)
        self.feature = feature
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.feature} is not offered: {self.reason}."


class ModuleNotOffered(HopyardError, ImportError):
    """A module that an old library had and its facade has not."""

    def __init__(self, module: str, instead: str) -> None:
        super().__init__(module, instead)
        self.module = module
        self.instead = instead

    def __str__(self) -> str:
        return f"There is no {self.module} in Hopyard yet. Instead, {self.instead}."


class ServiceNotOffered(HopyardError, ImportError):
    """A module of the Hops library that was a client of a HopsWorks cluster's own services."""

    def __init__(self, module: str, purpose: str, instead: str) -> None:
        super().__init__(module, purpose, instead)
        self.module = module
        self.purpose = purpose
        self.instead = instead

    def __str__(self) -> str:
        return (
            f"{self.module} {self.purpose}, and needs a HopsWorks cluster, which Hopyard does without. "
            f"Instead, {self.instead}."
        )


class BadReservationAddress(HopyardError, PermissionError):
    """The address of a driver that is to end its stream is not the one that it wrote to its log."""

    def __init__(self, address: str, reason: str) -> None:
        super().__init__(address, reason)
        self.address = address
        self.reason = reason

    def __str__(self) -> str:
        return (
            f"The address {self.address} cannot be used: {self.reason}. Copy it from the driver's log, from the line "
            "'listening for reservations at', with all that stands before the @."
        )


class NoExecutorId(HopyardError, FileNotFoundError):
    """The working folder of this process does not say which executor it is."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self.folder = folder

    def __str__(self) -> str:
        return (
            f"no executor has left its number in {self.folder}. Inside a training function it is "
            "ctx.executor_id; elsewhere call util.write_executor_id() first."
        )
