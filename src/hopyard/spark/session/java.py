"""The Java that Spark would start."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from hopyard.errors import JavaNotFound

if TYPE_CHECKING:
    from collections.abc import Mapping

OLDEST_JAVA = 17
_VERSION = re.compile(r'version "(?:1\.)?(\d+)')


def require_java(environ: Mapping[str, str] = os.environ) -> Path:
    """Returns the ``java`` that Spark would start, after asking its version.

    Raises:
        JavaNotFound: There is none, or it is too old.
    """
    java = _find(environ)
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    version = _VERSION.search(said)
    if version is None:
        raise JavaNotFound(f"{java} does not tell its version", OLDEST_JAVA)
    if int(version[1]) < OLDEST_JAVA:
        raise JavaNotFound(f"{java} is Java {version[1]}", OLDEST_JAVA)
    return java


def _find(environ: Mapping[str, str]) -> Path:
    if home := environ.get("JAVA_HOME"):
        java = Path(home) / "bin" / "java"
        if not os.access(java, os.X_OK):
            raise JavaNotFound(f"JAVA_HOME is {home} and has no bin/java", OLDEST_JAVA)
        return java
    found = shutil.which("java", path=environ.get("PATH", os.defpath))
    if found is None:
        raise JavaNotFound("there is no java on the PATH and JAVA_HOME is not set", OLDEST_JAVA)
    return Path(found)
