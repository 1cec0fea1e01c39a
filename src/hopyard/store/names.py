"""Which names a project can hold: one rule for every store, so that a project can move between them.

The rule is the common part of what ext4, HDFS and S3 hold. Names are kept as given: nothing is
normalised, quoted or lower-cased.
"""

from __future__ import annotations

import os
import re
import unicodedata
from typing import TypeAlias
from urllib.parse import quote

from hopyard.errors import InvalidName

AnyPath: TypeAlias = "str | os.PathLike[str]"

MAX_NAME_BYTES = 255
# S3 takes keys of 1,024 bytes; the rest is for the root and the name of the project.
MAX_PATH_BYTES = 768
# Files that are still being written. Nobody lists them, and nobody else may take such a name.
TEMPORARY_PREFIX = ".hopyard-tmp-"

_REFUSED_CHARACTERS = {
    "/": "a name cannot contain a slash",
    "\\": "a backslash separates folders on some systems",
    ":": "HDFS cannot hold a colon",
}
# Parts that do not begin with a dot, of letters that nobody takes for something else.
_USUAL_NAME = re.compile(r"[A-Za-z0-9_=+-][A-Za-z0-9_.=+-]*")
_USUAL = re.compile(f"{_USUAL_NAME.pattern}(/{_USUAL_NAME.pattern})*")

_SQUEEZED_URL = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+:/")


def as_text(path: AnyPath) -> str:
    """Returns a path, of pathlib or as text, as text.

    Raises:
        InvalidName: It is no path, or a URL that pathlib has spoilt.
    """
    if isinstance(path, str):
        return path
    text = os.fspath(path) if isinstance(path, os.PathLike) else None
    if not isinstance(text, str):
        raise InvalidName(str(path), f"it is of type {type(path).__name__}; give a path or URL as text")
    if _SQUEEZED_URL.match(text):
        raise InvalidName(text, "pathlib makes one slash of the two in a URL; give a URL as text")
    return text


def check_name(name: str) -> str:
    """Returns `name`, a single part of a path, if every store can hold it.

    Raises:
        InvalidName: Some store could not, or would take it for something else.
    """
    reason = None if len(name) <= MAX_NAME_BYTES and _USUAL_NAME.fullmatch(name) else _why_not(name)
    if reason:
        raise InvalidName(name, reason)
    return name


def check_folder(path: str) -> str:
    """Returns the relative path of a file or folder without a trailing slash; empty is the project itself.

    Raises:
        InvalidName: The path leaves the project, or a part of it is not a valid name.
    """
    trimmed = path.removesuffix("/")
    if path and not trimmed:
        raise InvalidName(path, "paths in a project are relative and do not start with a slash")
    return check_file(trimmed) if trimmed else ""


def check_file(path: str) -> str:
    """Returns the relative path of something inside the project, unchanged.

    Raises:
        InvalidName: As `check_folder`, and also for the empty path and a trailing slash.
    """
    if len(path) <= MAX_NAME_BYTES and _USUAL.fullmatch(path):
        return path  # most paths are, and each is looked at several times
    if not path:
        raise InvalidName(path, "the empty path is the project itself")
    if path.startswith("/"):
        raise InvalidName(path, "paths in a project are relative and do not start with a slash")
    if path.endswith("/"):
        raise InvalidName(path, "a trailing slash names a folder, and this has to be the name of a file")
    for name in path.split("/"):
        reason = _why_not(name)
        if reason:
            raise InvalidName(path, reason)
    if len(path.encode()) > MAX_PATH_BYTES:
        raise InvalidName(path, f"a path in a project has at most {MAX_PATH_BYTES} bytes")
    return path


def storable(path: str) -> str:
    """Returns a path that every store can hold: the same if it is one, else with the trouble spelled out.

    A character that is refused becomes ``%`` and its code, as in a URL; other trouble, such as a name that is
    too long, stays and is for `check_file` to refuse.
    """
    return "/".join("".join(map(_spelled, name)) for name in path.split("/"))


def _spelled(character: str) -> str:
    refused = character in _REFUSED_CHARACTERS or _is_control(character)
    return quote(character, safe="", errors="surrogatepass") if refused else character


def _is_control(character: str) -> bool:
    return unicodedata.category(character) in {"Cc", "Cs"} or character in "\ufffe\uffff"


def _why_not(name: str) -> str | None:
    if not name:
        return "a part between two slashes is empty"
    if name in {".", ".."}:
        return "'.' and '..' are not names, and no path leaves the project"
    if name == ".snapshot":
        return "HDFS reserves .snapshot"
    if name.startswith(TEMPORARY_PREFIX):
        return f"{TEMPORARY_PREFIX} marks files that are still being written"
    for character in name:
        if character in _REFUSED_CHARACTERS:
            return _REFUSED_CHARACTERS[character]
        if _is_control(character):
            return f"the character {character!r} is not allowed"
    if len(name.encode()) > MAX_NAME_BYTES:
        return f"a name has at most {MAX_NAME_BYTES} bytes"
    return None
