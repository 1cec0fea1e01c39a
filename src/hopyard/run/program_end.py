"""What becomes of a run whose program ends without waiting for it: it is stopped, and the program says so last."""

from __future__ import annotations

import logging
import threading
from typing import Protocol

from hopyard.errors import StopTimeout

LOG = logging.getLogger(__name__)
NAME = "hopyard-program-end"
POLL_SECONDS = 0.2
STOP_SECONDS = 10.0  # the program waits so long at its end
REASON = "its program ended without waiting for it"


class StoppableRun(Protocol):
    """A run that goes on in a thread of its own."""

    @property
    def run_id(self) -> str:
        """Its id."""

    def has_ended(self, within_seconds: float = 0.0) -> bool:
        """Tells whether the run ends within some seconds."""

    def stop(self, reason: str, timeout: float) -> None:
        """Ends the run."""


def stop_with_program(run: StoppableRun) -> None:
    """Starts a thread that stops a run which goes on although its program has nothing more to do."""
    # no daemon: Python ends only after it, so there is time to stop the nodes and to record that
    threading.Thread(target=_watch, args=(run,), name=NAME, daemon=False).start()


def _watch(run: StoppableRun) -> None:
    while not run.has_ended(POLL_SECONDS):
        if _is_program_over():
            LOG.warning(
                "run %s was still running at the end of the program, and is stopped: nothing waited for it. Use the "
                "Cluster in a with statement, or call its wait().",
                run.run_id,
            )
            _stop(run)
            return


def _stop(run: StoppableRun) -> None:
    try:
        run.stop(REASON, STOP_SECONDS)
    except StopTimeout as error:
        LOG.warning("%s", error)


def _is_program_over() -> bool:
    """Tells whether Python only waits for threads like this one before it ends."""
    main = threading.main_thread()
    others = (each for each in threading.enumerate() if each is not main and not each.daemon)
    return not main.is_alive() and all(each.name == NAME for each in others)
