"""What `train` has fed: who feeds it again to nodes that start again, until it is read."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from hopyard.errors import NodesReplaced
from hopyard.feed.account import EpochAccount
from hopyard.feed.driver.consumption import epochs_read
from hopyard.feed.driver.epochs import EpochFeeder
from hopyard.feed.driver.group_status import GroupStatus
from hopyard.feed.driver.sources import Source
from hopyard.feed.driver.targets import FedNodes

if TYPE_CHECKING:
    from hopyard.feed.driver.feeding import FeedOrder
    from hopyard.feed.driver.targets import FedRun

LOG = logging.getLogger(__name__)
POLL_SECONDS = 0.2
SETTLE_SECONDS = 60.0
COUNT_SECONDS = 10.0

NoteEnds: TypeAlias = Callable[[Collection[int], GroupStatus], None]
FeedingAgain: TypeAlias = Callable[[int], AbstractContextManager[None]]


@dataclass(slots=True, kw_only=True)
class TrainFeed:
    """The data of one call of `train`, and how far it is.

    Attributes:
        number: Its number among the feeds of the run.
        source: The rows.
        held: The rows to validate with, if any.
        order: How to feed them.
        first_epoch: The number of its first epoch among those of all calls.
        accounts: What became of each epoch that nodes have taken, by its number; of the last nodes that did.
        read: How many epochs all nodes have read to their end.
        attempt: How often the nodes that are fed were started again; None before the first are.
        taken: How many epochs these have taken.
        has_held: Whether they have the rows to validate with.
        fed_attempt: The same as `attempt` once they have all that they are to get.
    """

    number: int
    source: Source
    held: Source | None
    order: FeedOrder
    first_epoch: int = 0
    accounts: dict[int, EpochAccount] = field(default_factory=dict)
    read: int = 0
    attempt: int | None = None
    taken: int = 0
    has_held: bool = False
    fed_attempt: int | None = None

    @property
    def is_read(self) -> bool:
        """Whether all nodes have read all epochs, or want no more."""
        return self.read >= self.order.epochs

    def look(self, now: GroupStatus) -> None:
        """Records how the nodes are doing; those of another attempt have nothing yet."""
        if self.attempt == now.attempt:
            self.read = max(self.read, epochs_read(now.nodes, self.number, self.order.epochs))
            return
        if self.attempt is not None and self.attempt + 1 == now.attempt:
            self.read = max(self.read, epochs_read(now.before, self.number, self.order.epochs))
        self.attempt = now.attempt
        self.taken = self.read
        self.has_held = False

    def take(self, account: EpochAccount) -> None:
        """Records an epoch that the nodes have taken."""
        self.accounts[account.epoch] = account
        self.taken = account.epoch + 1


class TrainFeeds:
    """Feeds the data of all calls of `train`, and again what nodes that have failed had not read.

    When `train` returns, the nodes have the rows in memory, or on their disks, and read on. So a thread of this looks
    after them until the run ends. One thread feeds at a time.

    Args:
        run: The run.
        nodes: Those of it that are fed.
        feeder: Feeds an epoch.
        next_feed: Returns the number of another feed.
        note_ends: Called with the feeds whose epochs are not all read, and how the nodes are doing.
        feeding_again: Called with a number of epochs; its context is open while nodes that were started again are fed.
    """

    def __init__(
        self,
        run: FedRun,
        nodes: FedNodes,
        feeder: EpochFeeder,
        *,
        next_feed: Callable[[], int],
        note_ends: NoteEnds,
        feeding_again: FeedingAgain,
    ) -> None:
        self._run = run
        self._nodes = nodes
        self._feeder = feeder
        self._next_feed = next_feed
        self._note_ends = note_ends
        self._feeding_again = feeding_again
        self._lock = threading.Lock()
        self._feeds: list[TrainFeed] = []
        self._epochs = 0
        self._thread = threading.Thread(target=self._watch, name="hopyard-feed-again", daemon=True)

    def train(self, source: Source, held: Source | None, order: FeedOrder) -> tuple[EpochAccount, ...]:
        """Feeds all epochs, and returns when the nodes have taken them.

        Raises:
            HopyardError: They cannot be fed, or something ended the run.
        """
        with self._lock:
            feed = TrainFeed(
                number=self._next_feed(), source=source, held=held, order=order, first_epoch=self._epochs
            )
            self._epochs += order.epochs
            self._feeds = [*self._feeds, feed]
            self._catch_up()
            if not self._thread.is_alive() and not self._run.has_ended():
                self._thread.start()
            return tuple(feed.accounts[epoch] for epoch in sorted(feed.accounts))

    def has_fed(self, attempt: int) -> bool:
        """Tells whether the nodes of an attempt have got all that they are to get."""
        return all(feed.fed_attempt == attempt for feed in self._feeds)

    def close_accounts(self) -> None:
        """Records which nodes have ended their feed early; to be called before the run is on record as ended.

        The nodes may have returned before `train` has counted the epoch that they read last: that is waited for.
        """
        is_counted = self._lock.acquire(timeout=COUNT_SECONDS)
        try:
            if not is_counted:
                LOG.warning("the record of run %s may lack the last epoch that was fed", self._run.run_id)
            self._note_ends([feed.number for feed in self._feeds], self._nodes.look())
        finally:
            if is_counted:
                self._lock.release()

    def settle(self) -> None:
        """Returns when nothing is fed any more, after the end of the run."""
        if self._thread.is_alive():
            self._thread.join(SETTLE_SECONDS)
        if self._thread.is_alive():
            LOG.warning("what feeds run %s has not ended with it", self._run.run_id)

    def _watch(self) -> None:
        try:
            while not self._run.has_ended(POLL_SECONDS):
                with self._lock:
                    if lacking := self._look():
                        with self._feeding_again(max(feed.order.epochs for feed in lacking)):
                            self._catch_up()
        except Exception as error:  # noqa: BLE001  the edge of a thread: handed to whoever waits
            self._run.fail(error)

    def _catch_up(self) -> None:
        """Feeds to the nodes that are there now what they are to get and have not."""
        while lacking := self._look():
            try:
                for feed in lacking:
                    self._feed(feed)
            except NodesReplaced as replaced:
                LOG.warning(
                    "rows that were not read are fed again, each epoch from its beginning: %s", replaced
                )

    def _look(self) -> list[TrainFeed]:
        """Records how far the nodes are; returns what is to be fed to them."""
        now = self._nodes.look()
        self._note_ends([feed.number for feed in self._feeds], now)
        for feed in self._feeds:
            feed.look(now)
        last_held = next((feed for feed in reversed(self._feeds) if feed.held is not None), None)
        self._feeds = [feed for feed in self._feeds if not feed.is_read or feed is last_held]
        lacking = [feed for feed in self._feeds if feed.fed_attempt != feed.attempt]
        # nodes that lack nothing but rows to validate with may never ask for any
        return [feed for feed in lacking if not feed.is_read or self._nodes.are_gathered(now)]

    def _feed(self, feed: TrainFeed) -> None:
        """Feeds the epochs that were not read to the nodes that are there now, as long as they want more.

        Raises:
            NodesReplaced: Other nodes are there now.
        """
        order, keeps = feed.order, feed.order.epochs - feed.taken > 1
        while True:
            team = self._nodes.gather(order.gather_seconds)
            if team.attempt != feed.attempt:
                raise NodesReplaced(team.attempt)
            if not team.nodes and feed.accounts:
                break  # started again, they had nothing left to do
            if feed.held is not None and not feed.has_held:
                self._feeder.hold(team, feed.held, order, feed=self._next_feed())
                feed.has_held = True
            if feed.taken >= order.epochs:
                break
            epoch = feed.taken
            account = self._feeder.feed(
                team,
                feed.source,
                order,
                feed=feed.number,
                epoch=epoch,
                number=feed.first_epoch + epoch,
                keeps=keeps,
                left=order.epochs - epoch,
            )
            feed.take(account)
            if not account.is_whole:
                break
            if keeps and self._feeder.is_kept(team, feed.number):
                later = range(epoch + 1, order.epochs)
                for account in self._feeder.replay(team, order, feed=feed.number, epochs=later):
                    feed.take(account)
                break
            keeps = False
        feed.fed_attempt = feed.attempt
