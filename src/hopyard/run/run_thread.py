"""A run that goes on in a thread of its own, until it has ended."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from hopyard.errors import RunStopped, StillRunning, StopTimeout
from hopyard.feed.driver.group_status import GroupStatus
from hopyard.run.controller import RunController
from hopyard.store import Project
from hopyard.tracking import RunState, RunWriter

if TYPE_CHECKING:
    from hopyard.feed.driver.feeding import FeedController
    from hopyard.feed.signed_rows import RowSigner
    from hopyard.protocol.plan import Plan
    from hopyard.view.feed_meter import FeedMeter

LOG = logging.getLogger(__name__)
POLL_SECONDS = 0.5
STOP_SECONDS = 600.0
WATCHER = "hopyard-program-end"
WATCH_SECONDS = 0.2
FORGOTTEN_SECONDS = 10.0  # a program waits so long at its end for runs that it has forgotten
FORGOTTEN = "its program ended without waiting for it"


class RunThread:
    """Sees a run to its end, and knows what it ended of; for several threads. Those who feed the nodes know it as `FedRun`.

    Args:
        controller: What carries it, which has begun.
        run: Its record.
        project: Where it is kept.
    """

    def __init__(self, controller: RunController, run: RunWriter, project: Project) -> None:
        self.controller = controller
        self.values: tuple[Any, ...] = ()
        self._run = run
        self._project = project
        self._resources = ExitStack()
        self._thread = threading.Thread(target=self._carry, name="hopyard-run", daemon=True)
        # not the thread itself: Python 3.11 takes a thread for ended if Ctrl-C comes while it is joined
        self._is_over = threading.Event()
        self._error: BaseException | None = None
        self._failed_of: BaseException | None = None

    def start(self, resources: ExitStack) -> None:
        """Begins, with what is to be closed at the end."""
        self._resources = resources
        self._thread.start()
        # no daemon: Python ends only after it, so there is time to stop the nodes and to record that
        threading.Thread(target=self._watch_program, name=WATCHER, daemon=False).start()

    @property
    def run_id(self) -> str:
        """The id of the run."""
        return str(self._run.id)

    def standing(self) -> GroupStatus:
        """Returns how the nodes are doing, and which attempt they belong to."""
        return self.controller.standing()

    def has_ended(self, within_seconds: float = 0.0) -> bool:
        """Tells whether the run ends within some seconds, well or not, or has ended."""
        return self._is_over.wait(within_seconds)

    def failure(self) -> BaseException | None:
        """Returns what the run ended of; None while it goes on, and if it ended well."""
        return self._error if self._is_over.is_set() else None

    def join(self, timeout: float | None, *, end_feed: Callable[[float | None], None]) -> None:
        """Returns when the run has ended.

        Args:
            timeout: How long that may take; None: as long as it takes.
            end_feed: Tells the nodes that nothing more will come, within some seconds.

        Raises:
            StillRunning: It took longer.
        """
        deadline = float("inf") if timeout is None else time.monotonic() + timeout
        attempt = self.controller.attempt
        end_feed(timeout)
        while not self.has_ended(max(0.0, min(POLL_SECONDS, deadline - time.monotonic()))):
            if time.monotonic() >= deadline:
                assert timeout is not None
                raise StillRunning(self.run_id, timeout)
            # nodes that were started again have not been told of the end
            if self.controller.attempt != attempt:
                attempt = self.controller.attempt
                end_feed(None if timeout is None else deadline - time.monotonic())

    def stop(self, reason: str, timeout: float = STOP_SECONDS) -> None:
        """Ends the run now, as KILLED, and returns when its nodes are gone; nothing happens if it has ended.

        Raises:
            StopTimeout: It took longer.
        """
        self.controller.stop(reason)
        if not self._is_over.wait(timeout):
            raise StopTimeout(self.run_id, timeout, reason)

    def fail(self, error: BaseException) -> None:
        """Ends the run now, as FAILED, because of an error, which is its `failure`; nothing happens if it has ended."""
        if not self._is_over.is_set():
            self._failed_of = error
            self.stop(str(error) or repr(error))

    def new_feed(
        self,
        plan: Plan,
        secret: str,
        signer: RowSigner,
        *,
        meter: FeedMeter,
        end_with: Callable[[BaseException], None],
    ) -> FeedController:
        """Returns what feeds the nodes of the run."""
        from hopyard.feed.driver.feeding import FeedController  # a run that is not fed needs none of it
        from hopyard.feed.driver.record import FeedRecord

        return FeedController(
            self,
            end_with=end_with,
            secret=secret,
            signer=signer,
            ranks=[node.rank for node in plan.nodes if node.trains],
            record=FeedRecord(self._project, self._run),
            meter=meter,
        )

    def _carry(self) -> None:
        try:
            with self._resources:
                try:
                    self.values = self.controller.run()
                except RunStopped as stopped:
                    if self._failed_of is not None:
                        raise self._failed_of from None
                    self._run.finish_after(stopped, RunState.KILLED, stopped.reason)
                    raise
        except BaseException as error:  # noqa: BLE001  handed to whoever waits
            self._error = error
        finally:
            self._is_over.set()

    def _watch_program(self) -> None:
        """Stops the run, and says so, if it still goes on when its program has nothing more to do."""
        while not self.has_ended(WATCH_SECONDS):
            if not _is_program_over():
                continue
            LOG.warning(
                "run %s was still running at the end of the program, and is stopped: nothing waited for it. Use the "
                "Cluster in a with statement, or call its wait().",
                self.run_id,
            )
            try:
                self.stop(FORGOTTEN, FORGOTTEN_SECONDS)
            except StopTimeout as error:
                LOG.warning("%s", error)
            return


def _is_program_over() -> bool:
    """Tells whether Python only waits for threads that watch it before it ends."""
    main = threading.main_thread()
    others = (each for each in threading.enumerate() if each is not main and not each.daemon)
    return not main.is_alive() and all(each.name == WATCHER for each in others)
