"""Where a project root is: the parts of a URL, or a local path, and back."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from hopyard.errors import InvalidName
from hopyard.store.names import AnyPath, as_text

LOCAL = "file"

# Not urllib: a path in a store may contain '?', '#' and '%', and none of them means anything there.
_URL = re.compile(r"(?P<protocol>[a-zA-Z][a-zA-Z0-9+.-]*)://(?P<authority>[^/]*)(?P<path>.*)", re.DOTALL)
# As Hadoop writes them: hdfs:/path is on its default server, file:/path is local.
_ONE_SLASH = re.compile(r"(?P<protocol>[a-zA-Z][a-zA-Z0-9+.-]+):(?P<path>/.*)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """A place in a store.

    Attributes:
        protocol: ``file``, ``hdfs``, ``s3``, …
        authority: What stands between the protocol and the path: host and port, or bucket; may be empty.
        path: Absolute, without a trailing slash; empty at the very top.
    """

    protocol: str
    authority: str
    path: str

    @classmethod
    def parse(cls, place: AnyPath) -> Location:
        """Returns the place that a URL or a local path names.

        Raises:
            InvalidName: The text is empty, or not a place that stays the same from any folder.
        """
        text = as_text(place)
        match = _URL.fullmatch(text)
        if match is None:
            return cls._without_host(text)
        protocol = match["protocol"].lower()
        if protocol in {LOCAL, "local"}:
            if match["authority"]:
                raise InvalidName(text, "a local path has no host; write file:///path with three slashes")
            return cls._local(match["path"])
        path = match["path"].rstrip("/")
        if any(part in {"", ".", ".."} for part in path.split("/")[1:]):
            raise InvalidName(text, "the path of a URL has no empty parts, no '.' and no '..'")
        return cls(protocol=protocol, authority=match["authority"], path=path)

    @classmethod
    def _without_host(cls, text: str) -> Location:
        match = _ONE_SLASH.fullmatch(text)
        if match is None:
            return cls._local(text)
        if match["protocol"].lower() == LOCAL:
            return cls._local(match["path"])
        raise InvalidName(
            text, f"a URL has two slashes and a host; write {match['protocol']}://host{match['path']}"
        )

    @classmethod
    def _local(cls, text: str) -> Location:
        if not text or "\0" in text:
            raise InvalidName(text, "give a local path or a URL")
        path = os.path.abspath(os.path.expanduser(text)).rstrip("/")
        return cls(protocol=LOCAL, authority="", path=path)

    @property
    def base(self) -> str:
        """What stands before the path in a URL; empty for local paths, which `open` takes as they are."""
        return "" if self.protocol == LOCAL else f"{self.protocol}://{self.authority}"

    def __str__(self) -> str:
        return f"{self.base}{self.path}"
