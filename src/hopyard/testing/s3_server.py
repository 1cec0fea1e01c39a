"""An S3 server on this machine, in memory, for tests."""

from __future__ import annotations

import contextlib
import socket
import sys
import time
import urllib.request
import uuid
from typing import Self

from hopyard.errors import MissingDependency, ServerNotReady
from hopyard.scratch import scratch_folder
from hopyard.worker.server_process import ServerProcess

_LOOK_AGAIN_SECONDS = 0.05


class S3Server:
    """A running S3 server (moto) within a ``with`` block; its objects live in the server's memory.

    It listens on 127.0.0.1 only and ends with this process, however it ends.

    Attributes:
        endpoint_url: Address of the server, ``http://127.0.0.1:<port>``.
        storage_options: What s3fs needs to find the server: key, secret, endpoint_url.
    """

    def __init__(self, *, start_timeout_seconds: float = 60.0) -> None:
        """Describes the server; entering the context starts it.

        Args:
            start_timeout_seconds: How long the start may take until the first answer.
        """
        self._start_timeout_seconds = start_timeout_seconds
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Self:
        _require_moto()
        with contextlib.ExitStack() as stack:
            folder = stack.enter_context(scratch_folder("s3"))
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                self._port = free.getsockname()[1]
            command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self._port)]
            self._server = stack.enter_context(ServerProcess(command, log=folder / "s3.log"))
            self.endpoint_url = f"http://127.0.0.1:{self._port}"
            self.storage_options = {"key": "hopyard", "secret": "hopyard", "endpoint_url": self.endpoint_url}
            self._wait_until_ready()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._stack.close()

    def new_bucket(self) -> str:
        """Makes an empty bucket and returns its URL, ``s3://<unique name>``."""
        name = f"hopyard-{uuid.uuid4().hex}"
        request = urllib.request.Request(f"http://127.0.0.1:{self._port}/{name}", method="PUT")
        with urllib.request.urlopen(request, timeout=30):  # noqa: S310 (the address is ours)
            return f"s3://{name}"

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + self._start_timeout_seconds
        while (reason := self._reason_not_ready()) is not None:
            if not self._server.is_running or time.monotonic() > deadline:
                log = self._server.last_lines()
                raise ServerNotReady("S3Server", self._start_timeout_seconds, reason, log)
            time.sleep(_LOOK_AGAIN_SECONDS)

    def _reason_not_ready(self) -> str | None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/moto-api/", timeout=5):
                return None
        except OSError as error:
            return f"no answer: {error}"


def _require_moto() -> None:
    try:
        import moto  # noqa: F401
    except ImportError as error:
        raise MissingDependency("moto[s3,server]", "the S3 test server", "testing") from error
