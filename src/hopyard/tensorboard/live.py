"""A TensorBoard beside a run that goes on."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Self

from hopyard.errors import ServerNotReady
from hopyard.store import Project
from hopyard.tensorboard.server import TensorBoardServer

LOG = logging.getLogger(__name__)
LOOPBACK = "127.0.0.1"


class LiveTensorBoard:
    """Shows a run's folder while its context is open; the run does not wait for the server to start.

    A server that does not start is a warning in the log, not the end of the run.

    Args:
        folder: The run's folder: a URL, or a local path.
        announce: Called with the address once the server answers, from another thread.
        project: The project that keeps the run.
        host: Address to listen on.
        port: Port to listen on; 0 takes a free one.
    """

    def __init__(
        self,
        folder: str,
        announce: Callable[[str], None],
        *,
        project: Project | None = None,
        host: str = LOOPBACK,
        port: int = 0,
    ) -> None:
        self._server = TensorBoardServer(folder, project=project, host=host, port=port)
        self._announce = announce
        self._thread = threading.Thread(target=self._start, name="hopyard-tensorboard-start", daemon=True)

    def __enter__(self) -> Self:
        self._server.require()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.cancel()
        self._thread.join()
        self._server.stop()

    def _start(self) -> None:
        try:
            self._announce(self._server.start().url)
        except ServerNotReady as error:
            if not self._server.is_cancelled:
                LOG.warning("the run goes on without TensorBoard: %s", error)
