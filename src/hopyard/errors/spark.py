"""Errors of Spark: its session, Java, and the room that it has for nodes."""

from __future__ import annotations

from hopyard.errors.base import HopyardError


class NoActiveSpark(HopyardError, RuntimeError):
    """A launch needs Spark, and no session is active in this process."""

    text = (
        "no SparkSession is active in this process. Start one (spark = hopyard.local_spark()), pass "
        "spark=..., or run without Spark: backend='processes'."
    )


class CalledOnNode(HopyardError, RuntimeError):
    """A function that runs on a node was to start a Spark, or nodes on Spark."""

    text = (
        "launch(), search(), Cluster and local_spark() are for the driver program, and this is the process of a node. "
        "Call them in the driver program; with backend='processes' the first three start nodes on the host of this node."
    )


class SparkUnusable(HopyardError, RuntimeError):
    """There is a Spark, and Hopyard cannot work with it."""

    reason: str
    remedy: str
    text = "Hopyard cannot use this Spark: {reason}. {remedy}."


class SessionConflict(HopyardError, RuntimeError):
    """A session was asked for while another one is active."""

    running: str
    remedy: str
    text = "this process already runs {running}; {remedy}."


class InvalidSessionSetting(HopyardError, ValueError):
    """A setting of a session that cannot be used."""

    field: str
    value: str
    remedy: str
    text = "{field} is {value}; {remedy}."


class JavaNotFound(HopyardError, RuntimeError):
    """Spark has no Java to run on."""

    found: str
    oldest: int
    text = "Spark needs Java {oldest} or newer, but {found}. Install one, or set JAVA_HOME to its folder."


class SparkNotStarted(HopyardError, RuntimeError):
    """The embedded Spark did not come up."""

    reason: str
    log: str
    text = "Spark did not start: {reason}. The end of its log:\n{log}"


class NotEnoughGpus(HopyardError, RuntimeError):
    """The machine has fewer GPUs than the executors of a session want."""

    wanted: int
    found: int
    asked: str
    text = (
        "the executors need {wanted} GPUs in all, but this machine has {found} ({asked}). "
        "Ask for fewer executors or GPUs, or name another gpu_discovery_script."
    )


class NotEnoughSlots(HopyardError, RuntimeError):
    """Spark cannot run all nodes of a plan at the same time, or its executors did not come in time."""

    needed: int
    slots: str
    found: int
    spark: str
    remedy: str
    text = (
        "the plan needs {needed} {slots}, this Spark has {found} ({spark}). Ask for fewer nodes, or {remedy}."
    )


class SchedulerHangs(HopyardError, TimeoutError):
    """Spark's scheduler does not come out of a call, so that no job begins or ends any more."""

    seconds: float
    place: str
    text = (
        "Spark's scheduler has not come out of {place} for {seconds:g} s (feed_timeout), so no Spark job can end. "
        "Start the Spark application again, or raise feed_timeout if that call may take so long."
    )
