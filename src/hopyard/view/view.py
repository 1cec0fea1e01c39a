"""What a person sees of a run where it was started: a table of its nodes, and their output."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from hopyard.protocol.plan import Plan
from hopyard.view.background import Activity, BackgroundView
from hopyard.view.feed_meter import FeedMeter, with_starting
from hopyard.view.frame import printable
from hopyard.view.node_output import Batch, OutputQueue
from hopyard.view.place import is_typed_at
from hopyard.view.presenter import LiveView
from hopyard.view.refresh import Watched
from hopyard.view.run_snapshot import Snapshot

LOG = logging.getLogger(__name__)
FLUSH_SECONDS = 5.0


class View:
    """Shows a run where it was started, and never stands in its way: if it breaks, the log says so.

    The table goes to standard error and the nodes' output to standard output, so that either can be sent elsewhere.

    Args:
        plan: The run's nodes.
        progress: Whether the nodes are shown while somebody waits; None for terminals and notebooks only.
        stream_logs: Whether the nodes' output is shown.
        name: What the user calls the run; its id is shown if he does not say.
        meter: Counts what the nodes are fed; None if they are not.
        clock: The time in seconds.
    """

    def __init__(
        self,
        plan: Plan,
        *,
        progress: bool | None,
        stream_logs: bool,
        name: str = "",
        meter: FeedMeter | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._prefixes = tuple(f"[{node.role.value} {node.rank}] " for node in plan.nodes)
        self._progress = progress
        self._name = printable(name)
        self._meter = meter
        self._clock = clock
        self._began = clock()
        self._gate = threading.Lock()  # held by whoever opens or closes the screen
        self._presenter = LiveView("run", progress=progress)
        self._companion: BackgroundView | None = None
        self._waiting = 0
        self._is_accompanied = False
        self._output = OutputQueue(self._write, self._presenter.warn) if stream_logs else None
        self._is_over = False

    def lines(self, rank: int, lines: tuple[str, ...]) -> None:
        """Shows output of a node, each line after the node's name; returns at once, from any thread."""
        if self._output is not None:
            self._output.add(rank, lines)

    @contextmanager
    def showing(self, run: Watched) -> Iterator[None]:
        """Shows the nodes while open.

        If the run has ended when it is left, how it ended stays to be seen, once; if not, the table goes. Several
        threads may have it open: the last one that leaves closes it.
        """
        self._enter(run)
        try:
            yield
        finally:
            try:
                self._flush()
            finally:
                self._leave(run)

    @contextmanager
    def feeding(self, run: Watched, epochs: int) -> Iterator[None]:
        """Shows the nodes while they are fed some data, so often; as `showing`."""
        assert self._meter is not None
        self._meter.begin(epochs)
        try:
            with self.showing(run):
                yield
        finally:
            self._meter.end()

    def accompany(self, run: Watched, reason: Callable[[], bool] | None = None) -> None:
        """Shows the nodes also while nobody waits, whenever there is a reason; returns at once.

        Not at a terminal where somebody types: the table would be in his way.

        Args:
            run: The run.
            reason: Tells whether to show them now; that rows go through them is one in any case.
        """
        if self._progress is False:
            return
        with self._gate:
            if self._companion is None:
                self._companion = BackgroundView(
                    run, Activity(run.nodes, self._clock), self._accompany, self._presenter.warn
                )
                self._companion.start()
            if reason is not None:
                self._companion.add(reason)
                self._is_accompanied = not is_typed_at()

    def _accompany(self, run: Watched, is_wanted: Callable[[], bool]) -> None:
        with self._gate:
            if self._waiting:
                return
            self._is_accompanied = is_wanted() and not is_typed_at()
            if self._is_accompanied:
                self._open(run)
            else:
                self._presenter.close(is_over=False)  # the end is shown to whoever waits for it

    def _enter(self, run: Watched) -> None:
        with self._gate:
            self._waiting += 1
            self._open(run)

    def _leave(self, run: Watched) -> None:
        with self._gate:
            self._waiting -= 1
            is_over = run.has_ended()
            if not self._waiting and (is_over or not self._is_accompanied):
                self._presenter.close(is_over=is_over)
                self._is_over = is_over

    def _open(self, run: Watched) -> None:
        if not self._is_over:
            self._presenter.open(partial(self._look, run))

    def _look(self, run: Watched, *, is_over: bool) -> Snapshot:
        now = self._clock()
        nodes = run.nodes()
        feed = None if self._meter is None else self._meter.look(nodes, now)
        seconds = now - self._began
        nodes = nodes if self._meter is None else with_starting(nodes)
        return Snapshot.of(self._name or run.run_id, seconds=seconds, nodes=nodes, is_over=is_over, feed=feed)

    def _flush(self) -> None:
        if self._output is not None and not self._output.flush(FLUSH_SECONDS):
            LOG.warning("output of nodes could not be written for %.0f s; it is in the log", FLUSH_SECONDS)

    def _write(self, batch: Batch) -> None:
        from hopyard.view.live_display import process_display  # rich takes a while to import

        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        lines = [(rank, self._prefixes[rank], _encodable(line, encoding)) for rank, line in batch]
        process_display().print_output(lines)


def _encodable(text: str, encoding: str) -> str:
    return text.encode(encoding, "backslashreplace").decode(encoding)
