"""Shows a run whose nodes are busy while the program is not waiting for them, as far as the view can see."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from hopyard.feed.state import FeedState
from hopyard.protocol.node_status import NodeStatus, Phase
from hopyard.view.refresh import Watched

POLL_SECONDS = 0.5
LEAST_SECONDS = 1.0
QUIET_SECONDS = 3.0  # between two tasks of Spark, or while a batch is computed, there may be nothing to see


class Activity:
    """Whether rows go through nodes, and have done so for a while.

    Args:
        nodes: Returns how the nodes are doing.
        clock: The time in seconds.
    """

    def __init__(self, nodes: Callable[[], Sequence[NodeStatus]], clock: Callable[[], float]) -> None:
        self._nodes = nodes
        self._clock = clock
        self._received = self._look()[0]
        self._began: float | None = None
        self._last = 0.0

    def __call__(self) -> bool:
        """Tells whether it is worth showing."""
        now = self._clock()
        received, is_busy = self._look()
        if is_busy or received != self._received:
            self._began = now if self._began is None else self._began
            self._received, self._last = received, now
        elif now - self._last > QUIET_SECONDS:
            self._began = None
        return self._began is not None and self._last - self._began >= LEAST_SECONDS

    def _look(self) -> tuple[int, bool]:
        """Returns how many rows have come, and whether rows or tasks wait for the nodes."""
        states = [FeedState.of(node.notes) for node in self._nodes() if node.phase is Phase.RUNNING]
        wanted = [state for state in states if not state.is_stopped]
        is_busy = any(state.asking or state.received > state.consumed for state in wanted)
        return sum(state.received for state in states), is_busy


class BackgroundView:
    """A thread that asks again and again for a run to be shown or hidden, until the run has ended.

    Args:
        run: The run.
        reason: Tells whether to show it.
        ask: Called with the run and a function that tells whether there is a reason.
        on_failure: Hears why nothing can be shown any more.
    """

    def __init__(
        self,
        run: Watched,
        reason: Callable[[], bool],
        ask: Callable[[Watched, Callable[[], bool]], None],
        on_failure: Callable[[Exception], None],
    ) -> None:
        self._run = run
        self._reasons: tuple[Callable[[], bool], ...] = (reason,)
        self._ask = ask
        self._on_failure = on_failure
        self._thread = threading.Thread(target=self._follow, name="hopyard-companion", daemon=True)

    def start(self) -> None:
        """Begins to ask."""
        self._thread.start()

    def add(self, reason: Callable[[], bool]) -> None:
        """Takes another reason to show the run."""
        self._reasons = (*self._reasons, reason)

    def is_wanted(self) -> bool:
        """Tells whether there is a reason to show the run now."""
        return not self._run.has_ended() and any([reason() for reason in self._reasons])  # noqa: C419  all look

    def _follow(self) -> None:
        try:
            while not self._run.has_ended(POLL_SECONDS):
                self._ask(self._run, self.is_wanted)
            self._ask(self._run, self.is_wanted)
        except Exception as error:  # noqa: BLE001  the edge of a thread; the run goes on without being shown
            self._on_failure(error)
