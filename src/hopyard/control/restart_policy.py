"""Whether a run whose node has failed is started again. No I/O: the controller tells what happened, and obeys."""

from __future__ import annotations

from hopyard.tracking import NodeOutcome

MOST_PORT_RACES = 3


class RestartPolicy:
    """Counts the starts of a run.

    Args:
        max_restarts: How often it may be started again after a failure of its own.
    """

    def __init__(self, max_restarts: int) -> None:
        self._left = max_restarts
        self._port_races = 0

    def may_restart(self, failed: NodeOutcome, *, has_begun: bool) -> bool:
        """Returns whether to start again, and counts it.

        Args:
            failed: How the node ended that failed first.
            has_begun: Whether any node has reported something: then a port that somebody else has is one of the function's own.
        """
        if failed.port_taken and not has_begun and self._port_races < MOST_PORT_RACES:
            self._port_races += 1  # nobody's fault: the next attempt has other ports
            return True
        if self._left < 1:
            return False
        self._left -= 1
        return True
