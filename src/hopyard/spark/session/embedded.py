"""The running embedded Spark: its JVM, its folder, and their end.

This module needs pyspark. `hopyard.spark.session.local` imports it when a session is wanted.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyspark
from py4j.protocol import Py4JJavaError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from hopyard.environment import environment
from hopyard.errors import SessionConflict, SparkNotStarted
from hopyard.scratch import scratch_folder
from hopyard.spark.session.gpus import gpu_conf
from hopyard.spark.session.spark_errors import keep_texts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hopyard.spark.session.local import LocalCluster

_JVM_GRACE_SECONDS = 10.0
_LOOK_AGAIN_SECONDS = 0.05
_FUTILE_STARTS = 5  # Spark itself would go on and on
_DRIVER_OPTIONS = "spark.driver.extraJavaOptions"
_EXECUTOR_OPTIONS = "spark.executor.extraJavaOptions"
_LOGGING = """\
rootLogger.level = warn
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{HH:mm:ss.SSS} %p %c{1}: %m%n%ex
logger.native.name = org.apache.hadoop.util.NativeCodeLoader
logger.native.level = error
"""


class EmbeddedContext(SparkContext):
    """A Spark context that owns its JVM and its folder: stopping it ends the one and removes the other."""

    def __init__(self, cluster: LocalCluster, conf: SparkConf, gateway: Any) -> None:
        # pyspark stops the context if its start fails, and `stop` needs these.
        self.cluster = cluster
        self.owned = contextlib.ExitStack()
        super().__init__(conf=conf, gateway=gateway)

    def stop(self) -> None:
        """Ends all executors and the JVM, and removes the folder."""
        self.owned.close()
        super().stop()
        # What Python remembers of sessions would lead to a JVM that is no more.
        SparkSession._instantiatedSession = None  # noqa: SLF001
        SparkSession._activeSession = None  # noqa: SLF001


class EmbeddedSession(SparkSession):
    """A session on an `EmbeddedContext`."""

    def stop(self) -> None:
        """Ends Spark: executors, JVM, folder."""
        # Not super().stop(): it goes on to tidy up inside the JVM, which ends with the context here.
        self.sparkContext.stop()


def running_session(cluster: LocalCluster, active: SparkSession | None) -> SparkSession | None:
    """Returns the active session if it is what `cluster` asks for; None if there is none.

    Raises:
        SessionConflict: Something else is active.
    """
    context = SparkContext._active_spark_context  # noqa: SLF001 (no public way to look without starting)
    if context is None:
        return None
    if isinstance(context, EmbeddedContext) and context.cluster == cluster and active is not None:
        return active
    running = f"a Spark session {context.appName!r} on {context.master}"
    raise SessionConflict(running, "call .stop() on it first, or go on with SparkSession.active()")


def start(cluster: LocalCluster, *, start_timeout_seconds: float) -> SparkSession:
    """Starts a JVM with an embedded cluster and returns the session once all executors have arrived."""
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(scratch_folder("spark"))
        conf = SparkConf(loadDefaults=False).setAll(list(_configuration(cluster, folder).items()))
        try:
            with environment(_variables(folder)):
                gateway = stack.enter_context(_java_virtual_machine(conf, folder / "driver.log"))
                context = EmbeddedContext(cluster, conf, gateway)
        except PySparkRuntimeError as error:
            raise SparkNotStarted(str(error), _end_of_logs(folder)) from error
        except Py4JJavaError as error:
            raise SparkNotStarted(error.java_exception.toString(), _end_of_logs(folder)) from error
        stack.callback(SparkContext.stop, context)
        _remove_at_exit(context, folder)
        session = EmbeddedSession(context)
        _wait_for_executors(context, folder, start_timeout_seconds)
        context.owned = stack.pop_all()
    return session


def _configuration(cluster: LocalCluster, folder: Path) -> dict[str, str]:
    own_files = f'"-Djava.io.tmpdir={folder / "tmp"}" "-Dderby.system.home={folder}"'
    conf = {
        "spark.master": cluster.master,
        "spark.app.name": cluster.name,
        "spark.hopyard.folder": str(folder),
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.executor.instances": str(cluster.executors),
        "spark.executor.memory": f"{cluster.memory_mb}m",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        # what a processor's caches can hold gets to Python and back several times as fast as 64 MB, the usual
        "spark.sql.execution.arrow.maxBytesPerBatch": str(2 << 20),
        "spark.ui.enabled": str(cluster.ui).lower(),
        "spark.ui.showConsoleProgress": "false",
        **cluster.conf,
        # The driver has little to compute: leaving its code unoptimised makes the start cheaper.
        _DRIVER_OPTIONS: f"-XX:TieredStopAtLevel=1 {own_files} {cluster.conf.get(_DRIVER_OPTIONS, '')}",
        _EXECUTOR_OPTIONS: f"{own_files} {cluster.conf.get(_EXECUTOR_OPTIONS, '')}",
    }
    if cluster.gpus:
        conf |= gpu_conf(
            workers=cluster.executors,
            gpus=cluster.gpus,
            cores=cluster.cores,
            script=cluster.gpu_discovery_script,
            folder=folder,
        )
    return conf


def _variables(folder: Path) -> dict[str, str]:
    """Lays out the folder and returns the environment that makes Spark use it."""
    # Workers of an embedded cluster work in $SPARK_HOME/work, whatever else is set. A home made of links
    # to the real one keeps that out of the installed package.
    home = folder / "home"
    home.mkdir()
    for part in ("bin", "jars", "python"):
        (home / part).symlink_to(_spark_home() / part)
    (folder / "tmp").mkdir()
    (folder / "conf").mkdir()
    (folder / "conf" / "log4j2.properties").write_text(_LOGGING)
    return {
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_CONF_DIR": str(folder / "conf"),
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_DIRS": str(folder / "local"),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }


def _spark_home() -> Path:
    installed = Path(pyspark.__file__).parent
    # A Spark distribution keeps the Python package below its home; pip puts the home into the package.
    return installed if (installed / "jars").is_dir() else installed.parents[1]


@contextlib.contextmanager
def _java_virtual_machine(conf: SparkConf, log: Path) -> Iterator[Any]:
    """Holds a JVM for one Spark context; pyspark alone would keep it until Python ends."""
    if SparkContext._gateway is not None:  # noqa: SLF001 (of a session that has been stopped)
        _end(SparkContext._gateway)  # noqa: SLF001
    with log.open("ab") as out:
        launch: Any = launch_gateway  # pyspark gives it no types
        gateway = launch(conf, {"stdout": out, "stderr": out, "start_new_session": True})
    try:
        yield gateway
    finally:
        _end(gateway)


def _end(gateway: Any) -> None:
    keep_texts()
    SparkContext._gateway = None  # noqa: SLF001 (lets the next context have a new one)
    SparkContext._jvm = None  # noqa: SLF001
    gateway.shutdown()
    java: subprocess.Popen[bytes] = gateway.proc
    assert java.stdin is not None
    java.stdin.close()  # the JVM takes this for the end of Python, and ends
    try:
        java.wait(_JVM_GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        java.kill()
        java.wait()
    with contextlib.suppress(ProcessLookupError):  # executors that are still on their way out, if any
        os.killpg(java.pid, signal.SIGKILL)


def _remove_at_exit(context: SparkContext, folder: Path) -> None:
    """Lets the JVM remove the folder when it ends: it also does when Python was killed."""
    java: Any = context._jvm  # noqa: SLF001 (pyspark's door to the JVM)
    files = java.org.apache.hadoop.fs.FileSystem.getLocal(context._jsc.hadoopConfiguration())  # noqa: SLF001
    files.deleteOnExit(java.org.apache.hadoop.fs.Path(str(folder)))


def _wait_for_executors(context: EmbeddedContext, folder: Path, seconds: float) -> None:
    wanted = context.cluster.executors
    deadline = time.monotonic() + seconds
    while (arrived := _executors(context)) < wanted:
        started = len(list((folder / "home" / "work").glob("app-*/*")))
        if started > wanted + _FUTILE_STARTS:
            reason = f"executors end as soon as they start, {started} did so far"
            raise SparkNotStarted(reason, _end_of_logs(folder))
        if time.monotonic() > deadline:
            reason = (
                f"{arrived} of {wanted} executors arrived within {seconds:.0f} s; raise start_timeout_seconds "
                "or ask for fewer"
            )
            raise SparkNotStarted(reason, _end_of_logs(folder))
        time.sleep(_LOOK_AGAIN_SECONDS)


def _executors(context: SparkContext) -> int:
    known: int = context._jsc.sc().getExecutorMemoryStatus().size()  # noqa: SLF001
    return known - 1  # the driver counts itself


def _end_of_logs(folder: Path) -> str:
    """The last lines of the driver and of the first executor, whose end tells why others end."""
    logs = [folder / "driver.log", *folder.glob("home/work/app-*/0/std*")]
    # An executor's log begins with its command, which fills a screen.
    return "\n".join(
        line[:300] for log in logs for line in log.read_text(errors="replace").splitlines()[-20:]
    )
