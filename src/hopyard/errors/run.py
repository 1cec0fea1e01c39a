"""Errors of a run: its arguments, its state, its reports."""

from __future__ import annotations

from hopyard.errors.base import HopyardError


class BadArguments(HopyardError, TypeError):
    """The arguments of a launch do not fit the function."""

    function: str
    reason: str
    text = "wrong arguments for {function}(): {reason}."


class NotStarted(HopyardError, RuntimeError):
    """Something was asked of a cluster that has not been started."""

    name: str
    text = "the cluster of {name!r} has not been started; use it in a with statement, or call start() first."


class AlreadyStarted(HopyardError, RuntimeError):
    """A cluster was to be started a second time."""

    name: str
    text = "the cluster of {name!r} has already been started; make a new Cluster for another run."


class NotInsideRun(HopyardError, RuntimeError):
    """Something that only a running training function has was asked for elsewhere."""

    asked: str
    text = "{asked} exists only on a node; ask for it inside the function that runs on the nodes."


class BadReport(HopyardError, TypeError):
    """A training function reported something that is no metric of a step."""

    what: str
    value: str
    remedy: str
    text = "report() cannot record this: {what} is {value}. {remedy}."


class TrialStopped(HopyardError, RuntimeError):
    """A trial ends early: raised by a training function, or for it, once the trial is not worth going on with."""

    step: int
    text = "the trial was stopped at step {step}: other trials do better."


class RunStopped(HopyardError, RuntimeError):
    """A run was ended before its time."""

    run_id: str
    reason: str
    text = "run {run_id} was stopped: {reason}."


class StopTimeout(HopyardError, TimeoutError):
    """The nodes of a run had not ended long after they were told to."""

    run_id: str
    seconds: float
    reason: str
    text = (
        "run {run_id} has not ended within {seconds:g} s of being stopped ({reason}): its nodes, its Spark job or its "
        "store do not answer. What is left of it ends with this program."
    )


class StillRunning(HopyardError, TimeoutError):
    """The nodes of a run had not ended when the patience of a wait was over; they go on."""

    run_id: str
    seconds: float
    text = "run {run_id} is still running after {seconds:g} s; raise timeout, or call stop()."


class EndNotRecorded(HopyardError, OSError):
    """All nodes of a run returned, and the store did not take the record of that."""

    run_id: str
    cause: str
    rescued: str

    def __str__(self) -> str:
        rescued = f"; {self.rescued}" if self.rescued else ""
        return f"run {self.run_id} ended well, but that could not be recorded ({self.cause}){rescued}"
