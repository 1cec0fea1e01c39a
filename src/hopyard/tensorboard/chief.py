"""A TensorBoard beside a run's chief: it reads the chief's own disk, so events show at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hopyard.tensorboard.live import LOOPBACK, LiveTensorBoard

NAME = "tensorboard"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChiefTensorBoard:
    """What runs beside the chief; ends with it.

    Attributes:
        logdir: Folder to show; the node's own log folder if not given.
        host: Address to listen on; ``0.0.0.0`` lets other machines in, without a password.
        port: Port to listen on; 0 takes a free one.
    """

    logdir: str | None = None
    host: str = LOOPBACK
    port: int = 0

    @contextmanager
    def __call__(self, logdir: Path, announce: Callable[[str, str], None]) -> Iterator[None]:
        """Gives a context in which the server runs, and tells its address once it answers."""
        folder = self.logdir or str(logdir)
        with LiveTensorBoard(folder, lambda url: announce(NAME, url), host=self.host, port=self.port):
            yield
