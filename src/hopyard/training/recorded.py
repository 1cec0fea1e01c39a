"""The record of a run around the code that carries it out: begun, kept alive, ended whatever happens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hopyard.cluster.housekeeping import Chore, Housekeeper
from hopyard.tracking import RunState, RunWriter


@contextmanager
def recorded(writer: RunWriter) -> Iterator[RunWriter]:
    """Keeps a run's record alive while open, and ends it FINISHED, FAILED or KILLED."""
    with Housekeeper(Chore(writer.heartbeat, writer.heartbeat_seconds)):
        try:
            yield writer
        except KeyboardInterrupt:
            writer.finish(RunState.KILLED, error="interrupted on the driver")
            raise
        except BaseException as error:
            writer.finish(RunState.FAILED, error=f"{type(error).__name__}: {error}")
            raise
    writer.finish(RunState.FINISHED)
