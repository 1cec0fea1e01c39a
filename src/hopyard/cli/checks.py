"""What `hopyard doctor` looks at: each check returns findings, and a finding says what to do."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from hopyard.errors import HopyardError
from hopyard.scratch import scratch_folder

if TYPE_CHECKING:
    from hopyard.store import Project

OLDEST_PYTHON = (3, 11)
LOW_SPACE_BYTES = 1 << 30


class Verdict(Enum):
    """How a thing stands: fine, absent without harm, or in the way."""

    OK = "ok"
    ABSENT = "absent"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of the doctor's report."""

    subject: str
    verdict: Verdict
    text: str


def ok(subject: str, text: str) -> Finding:
    """Returns that something is fine."""
    return Finding(subject=subject, verdict=Verdict.OK, text=text)


def problem(subject: str, text: str) -> Finding:
    """Returns that something is in the way, with what to do."""
    return Finding(subject=subject, verdict=Verdict.PROBLEM, text=text)


def examine(
    open_project: Callable[[], Project], environ: Mapping[str, str] = os.environ
) -> Iterator[Finding]:
    """Yields all findings about this machine and a project.

    Args:
        open_project: Gives the project; what it raises is a finding too.
        environ: The environment to read.
    """
    yield check_python(sys.version_info[:3])
    yield check_java(environ)
    yield from check_packages()
    yield check_loopback()
    yield check_address()
    yield check_project(open_project)
    yield check_scratch()
    yield from check_rescued(Path(tempfile.gettempdir()))


def check_python(version: tuple[int, int, int]) -> Finding:
    """Tells whether Python is new enough."""
    text = ".".join(map(str, version))
    if version < OLDEST_PYTHON:
        return problem("Python", f"{text} is too old: use {'.'.join(map(str, OLDEST_PYTHON))} or newer")
    return ok("Python", f"{text} ({sys.executable})")


def check_java(environ: Mapping[str, str]) -> Finding:
    """Tells whether Spark will find a Java that is new enough."""
    from hopyard.session.java import OLDEST_JAVA, require_java

    try:
        java = require_java(environ)
    except (HopyardError, OSError) as error:
        return problem("Java", str(error))
    return ok("Java", f"{OLDEST_JAVA} or newer ({java})")


# --- packages --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """A package that a part of Hopyard uses; any one of its distributions brings it."""

    name: str
    distributions: tuple[str, ...]
    install: str
    required: bool = False


PACKAGES = (
    Package(name="pyspark", distributions=("pyspark",), install="'hopyard[spark]'", required=True),
    Package(name="pyarrow", distributions=("pyarrow",), install="hopyard", required=True),
    Package(name="TensorFlow", distributions=("tensorflow", "tensorflow-cpu"), install="tensorflow"),
    Package(name="Keras", distributions=("keras",), install="keras"),
    Package(name="PyTorch", distributions=("torch",), install="torch"),
    Package(name="JAX", distributions=("jax",), install="jax"),
    Package(name="scikit-learn", distributions=("scikit-learn",), install="scikit-learn"),
    Package(name="TensorBoard", distributions=("tensorboard",), install="'hopyard[tensorboard]'"),
)


def check_packages(packages: tuple[Package, ...] = PACKAGES) -> Iterator[Finding]:
    """Yields which packages are there, without importing them: that would take seconds each."""
    for package in packages:
        version = next(filter(None, map(installed_version, package.distributions)), None)
        if version is not None:
            yield ok(package.name, version)
        else:
            verdict = Verdict.PROBLEM if package.required else Verdict.ABSENT
            text = f"not installed: pip install {package.install}"
            yield Finding(subject=package.name, verdict=verdict, text=text)


def installed_version(distribution: str) -> str | None:
    """Returns the version of an installed distribution, or None where it is not installed."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


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
    advice = "choose another --root or HOPYARD_ROOT, or get the right to write there"
    probe = f"doctor-{uuid.uuid4().hex}"
    try:
        project = open_project()
        project.create(probe, b"written by hopyard doctor\n")
        listed = any(entry.name == probe for entry in project.list())
        project.remove(probe)
    except (HopyardError, OSError) as error:
        return problem("project", f"{error} To do: {advice}")
    if not listed:
        return problem("project", f"{project.path} did not list a file that was just written: {advice}")
    return ok("project", f"{project.path} is writable")


def check_scratch() -> Finding:
    """Tells whether there is room for temporary files; what dead processes left is swept on the way."""
    try:
        with scratch_folder("doctor") as own:
            base = own.parent
            in_use = sum(folder.is_dir() for folder in base.iterdir()) - 1
            free = shutil.disk_usage(base).free
    except (HopyardError, OSError) as error:
        return problem("scratch", f"{error} To do: set TMPDIR to a folder that you may write to")
    text = f"{base}: {in_use} in use, no leftovers, {free / (1 << 30):.1f} GiB free"
    if free < LOW_SPACE_BYTES:
        return problem("scratch", f"{text}: make room, or set TMPDIR to a larger disk")
    return ok("scratch", text)


def check_rescued(folder: Path) -> Iterator[Finding]:
    """Yields the files of runs that could not be stored and were put aside on this machine."""
    for rescued in sorted(folder.glob("hopyard-rescued-*")):
        yield problem(
            "rescued",
            f"{rescued} holds files of a run that its store did not take: copy them, then remove it",
        )
