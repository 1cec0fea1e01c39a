"""The TensorBoard of a cluster: beside its first worker, over the folder that the program writes to."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from hopyard.store.location import LOCAL, Location
from hopyard.store.place import locate
from hopyard.tensorboard.chief import ChiefTensorBoard
from hopyard.wire import routable_address

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogDirTensorBoard:
    """What runs beside the first worker, listening at the address of its host; ends with it.

    Attributes:
        log_dir: The folder to show; a relative one is in the working folder of the executor. None shows the
            node's own log folder.
        port: Port to listen on; 0 takes a free one.
    """

    log_dir: str | None = None
    port: int = 0

    def __call__(self, logdir: Path, announce: Callable[[str, str], None]) -> AbstractContextManager[None]:
        """Returns a context in which the server runs; a local folder need not be there before."""
        folder = self.log_dir
        if folder is not None and Location.parse(folder).protocol == LOCAL:
            folder = str(Location.parse(folder))
            os.makedirs(folder, exist_ok=True)
        # the address that `tensorboard_url` tells has to be in reach of the driver, as in the old library
        return ChiefTensorBoard(logdir=folder, host=routable_address(), port=self.port)(logdir, announce)


def boards(log_dir: str | None, port: int) -> tuple[LogDirTensorBoard, ...]:
    """Returns what is to run beside the first worker for a TensorBoard over a folder; nothing if it cannot be shown."""
    if log_dir is not None and Location.parse(log_dir).protocol != LOCAL:
        place = locate(log_dir)
        if place is None:
            LOG.warning("no TensorBoard: log_dir=%s is remote, and in no <root>/Projects/<name>/", log_dir)
            return ()
        place.project.mkdir(place.relative)
    return (LogDirTensorBoard(log_dir=log_dir, port=port),)
