"""Errors of what runs the nodes: plans, backends, nodes that fail or do not come."""

from __future__ import annotations

from hopyard.errors.base import HopyardError


class InvalidPlan(HopyardError, ValueError):
    """A run was asked for whose nodes do not fit together."""

    given: str
    remedy: str
    text = "{given} is not valid: {remedy}."


class UnknownBackend(HopyardError, ValueError):
    """The name of a backend that there is none of."""

    value: str
    text = "{value!r} is not a backend; choose 'spark', 'processes' or 'inline'."


class BackendFailed(HopyardError, RuntimeError):
    """What was to run the nodes broke down itself."""

    backend: str
    cause: str
    text = "the {backend} backend could not run the nodes: {cause}"


class JobCancelled(BackendFailed):
    """Somebody cancelled the Spark job that ran the nodes, in Spark's pages or in the program."""

    text = BackendFailed.text


class NodesMissing(HopyardError, TimeoutError):
    """Not all nodes of a run arrived in time.

    The option has a name of its own, for facades: their users know another one.
    """

    missing: tuple[str, ...]
    size: int
    seconds: float
    option = "start_timeout"

    def __str__(self) -> str:
        shown = ", ".join(self.missing[:10]) + (", ..." if len(self.missing) > 10 else "")
        return (
            f"{self.size - len(self.missing)} of {self.size} nodes arrived within {self.seconds:g} s; missing: "
            f"{shown}. Ask for fewer nodes, free slots that other jobs hold, or raise {self.option}."
        )


class NodeFailed(HopyardError, RuntimeError):
    """A node's function did not return: it raised, its process died, or its executor was lost."""

    rank: int
    role: str
    host: str
    message: str
    trace: str
    tail: tuple[str, ...]

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


class NoProgress(HopyardError, TimeoutError):
    """The nodes of a run are alive, and none has done anything for a long time."""

    seconds: float
    last: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"no node printed or reported anything for {self.seconds:g} s, so the run was stopped; "
            f"last seen: {'; '.join(self.last[:10])}. Raise timeout if the nodes may be silent for longer."
        )
