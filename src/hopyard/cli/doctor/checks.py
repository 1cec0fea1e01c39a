"""What `hopyard doctor` looks at: each check returns findings, and a finding says what to do."""

from __future__ import annotations

import os
import shlex
import shutil
import socket
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from hopyard.cli.doctor.extras import check_extras, check_pyspark
from hopyard.cli.doctor.facades import check_facades
from hopyard.cli.doctor.finding import Finding, ok, problem
from hopyard.errors import HopyardError
from hopyard.scratch import scratch_folder
from hopyard.store.contact import comes_within, in_background

if TYPE_CHECKING:
    from concurrent.futures import Future

    from hopyard.store import Project

OLDEST_PYTHON, NEWEST_PYTHON = (3, 11), (3, 13)
LOW_SPACE_BYTES = 1 << 30
PATIENCE_SECONDS = 9.0


def examine(
    open_project: Callable[[], Project], environ: Mapping[str, str] = os.environ
) -> Iterator[Finding]:
    """Yields all findings about this machine and a project.

    Args:
        open_project: Gives the project; what it raises is a finding too.
        environ: The environment to read.
    """
    # What may hang goes on beside the rest, and is given up in the end.
    project = in_background(lambda: check_project(open_project))
    address = in_background(check_address)
    yield check_python(sys.version_info[:3])
    yield check_java(environ)
    yield check_pyspark(environ)
    yield from check_extras()
    yield from check_facades()
    yield check_loopback()
    yield _in_time(address, "address", "look at the name server of this machine, or set HOPYARD_NETWORK")
    yield _in_time(project, "project", "see whether its store is overloaded, or choose another --root")
    yield check_scratch()
    yield from check_rescued(Path(tempfile.gettempdir()))


def _in_time(answer: Future[Finding], subject: str, advice: str) -> Finding:
    if comes_within(answer, PATIENCE_SECONDS):
        return answer.result()
    return problem(subject, f"no answer within {PATIENCE_SECONDS:g} s: {advice}")


def check_python(version: tuple[int, int, int]) -> Finding:
    """Tells whether Hopyard works with this Python."""
    text = ".".join(map(str, version))
    if not OLDEST_PYTHON <= version[:2] <= NEWEST_PYTHON:
        oldest, newest = (".".join(map(str, each)) for each in (OLDEST_PYTHON, NEWEST_PYTHON))
        return problem("Python", f"{text} is not supported: use {oldest} to {newest}")
    return ok("Python", f"{text} ({sys.executable})")


def check_java(environ: Mapping[str, str]) -> Finding:
    """Tells whether Spark will find a Java that is new enough."""
    from hopyard.spark.session.java import OLDEST_JAVA, require_java

    try:
        java = require_java(environ)
    except (HopyardError, OSError) as error:
        return problem("Java", str(error))
    return ok("Java", f"{OLDEST_JAVA} or newer ({java})")


# --- network ---------------------------------------------------------------------------------------


def check_loopback() -> Finding:
    """Tells whether a server can listen on this machine."""
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
    except OSError as error:
        return problem("loopback", f"no port can be bound at 127.0.0.1 ({error}): look at the firewall")
    return ok("loopback", f"127.0.0.1 can be bound (port {port} was)")


def check_address() -> Finding:
    """Tells the address under which executors find the driver."""
    try:
        from hopyard.wire import routable_address

        address = routable_address()
    except (HopyardError, ImportError) as error:
        return problem("address", str(error))
    if address.startswith("127."):
        return ok("address", f"{address}: enough on this machine; set HOPYARD_NETWORK to reach others")
    return ok("address", address)


# --- files -----------------------------------------------------------------------------------------


def check_project(open_project: Callable[[], Project]) -> Finding:
    """Tells whether files can be written, listed and removed in the project."""
    probe = f"doctor-{uuid.uuid4().hex}"
    try:
        project = open_project()
        project.create(probe, b"written by hopyard doctor\n")
        listed = any(entry.name == probe for entry in project.list())
        project.remove(probe)
    except HopyardError as error:
        return problem("project", str(error))
    except OSError as error:
        return problem("project", f"{error}. Choose another --root or HOPYARD_ROOT")
    if not listed:
        return problem(
            "project", f"{project.path} did not list a file that was just written: choose another --root"
        )
    return ok("project", f"{project.path} is writable")


def check_scratch() -> Finding:
    """Tells whether there is room for temporary files; what dead processes left is swept on the way."""
    try:
        with scratch_folder("doctor") as own:
            base = own.parent
            in_use = sum(folder.is_dir() for folder in base.iterdir()) - 1
            free = shutil.disk_usage(base).free
    except HopyardError as error:  # before OSError, which it may be as well: it names the remedy itself
        return problem("scratch", str(error))
    except OSError as error:
        return problem("scratch", f"{error}. To do: set TMPDIR to a folder that you may write to")
    text = f"{base}: {in_use} in use, no leftovers, {free / (1 << 30):.1f} GiB free"
    if free < LOW_SPACE_BYTES:
        return problem("scratch", f"{text}: make room, or set TMPDIR to a larger disk")
    return ok("scratch", text)


def check_rescued(folder: Path) -> Iterator[Finding]:
    """Yields the files of runs that could not be stored and were put aside on this machine."""
    for rescued in sorted(folder.glob("hopyard-rescued-*")):
        held = f"{rescued} holds results of a run that its store did not take"
        if rescued.stat().st_uid == os.getuid():
            again = shlex.join(["rm", "-r", str(rescued)])
            yield problem("rescued", f"{held}: copy those that you need, then remove it: {again}")
        else:
            yield ok("rescued", f"{held}; they are of another user, who is told by his `hopyard doctor`")
