"""Feeds the nodes of a cluster from the driver: starts Spark's jobs, watches the nodes, keeps account."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from hopyard.errors import BadArguments, FeedJobFailed, NodesReplaced, NotFed, WireTimeout
from hopyard.feed.account import EpochAccount, check
from hopyard.feed.asker import AskPlan
from hopyard.feed.feeder import FeedPlan, PartitionReport
from hopyard.feed.replay_job import ReplayJob
from hopyard.feed.service import BEGIN, COUNTS, FORGET, SEAL
from hopyard.feed.sources import FeedJob, Source, source_of
from hopyard.training.farewell import Farewell
from hopyard.training.fed_nodes import LOOK_SECONDS, FedNodes, Team, answer_of
from hopyard.training.feed_watch import Progress, has_enough, has_failed
from hopyard.training.query_stream import StreamOrder
from hopyard.training.streaming import StreamFeed, Streams, is_stream

if TYPE_CHECKING:
    from hopyard.training.feedable import Feedable

LOG = logging.getLogger(__name__)
LEAST_GATHER_SECONDS = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedOrder:
    """How data is to be fed.

    Attributes:
        epochs: How often.
        seed: Decides on the order of the rows in each epoch; None: as they come.
        timeout: Seconds in which no node consumes a row although rows wait.
        stream: How a stream is read.
    """

    epochs: int = 1
    seed: int | None = None
    timeout: float = 600.0
    stream: StreamOrder = field(default_factory=StreamOrder)

    def __post_init__(self) -> None:
        if type(self.epochs) is not int or self.epochs < 1:
            raise BadArguments("train", f"epochs={self.epochs!r} is no whole number of at least 1")
        if self.seed is not None and type(self.seed) is not int:
            raise BadArguments("train", f"shuffle_seed={self.seed!r} is no whole number")

    @property
    def gather_seconds(self) -> float:
        """How long nodes that run may take until they ask for rows."""
        return max(self.timeout, LEAST_GATHER_SECONDS)


class Feeding:
    """Feeds one run, from its first call of train() to its end.

    Args:
        run: The run.
        secret: What the tokens of its nodes are made of.
        ranks: The nodes that are fed.
        keep: Receives the account of each epoch, with its number of the feed and what the tasks report.
    """

    def __init__(
        self,
        run: Feedable,
        *,
        secret: str,
        ranks: Sequence[int],
        keep: Callable[[int, EpochAccount, Sequence[PartitionReport]], None],
    ) -> None:
        self._run = run
        self._nodes = FedNodes(run, secret=secret, ranks=ranks)
        self._keep = keep
        self._feeds = 0
        self._streams = Streams(run, self)
        self._farewell = Farewell(run, self._nodes)

    def train(self, data: object, order: FeedOrder) -> tuple[EpochAccount, ...] | StreamFeed:
        """Feeds all rows once for each epoch; returns when the nodes have taken them. A failure ends the run.

        A stream goes on when this returns.

        Raises:
            BadArguments: The data is nothing that can be fed, or the number of epochs none.
            FeedStalled: Rows wait, and no node has consumed any for too long.
            FeedJobFailed: Spark could not compute the rows.
            FeedMiscounted: Rows were lost or came twice.
            HopyardError: Whatever ended the run meanwhile.
        """
        order.stream.check(data)
        if is_stream(data):
            return self._streams.start(data, order, feed=self._next_feed())
        source = source_of(data)
        try:
            return self._train(source, order)
        except BaseException as error:
            self._run.stop("it was interrupted" if isinstance(error, KeyboardInterrupt) else str(error))
            raise

    def inference(self, data: object, schema: Any, *, feed_timeout: float) -> Any:
        """Returns the results for all rows, which are computed when they are used.

        Raises:
            BadArguments: The data is nothing that can be fed, or a schema is missing.
            NotFed: No node is there to find them.
            HopyardError: Whatever ended the run meanwhile.
        """
        source = source_of(data)
        team = self._nodes.gather(max(feed_timeout, LEAST_GATHER_SECONDS))
        if not team.nodes:
            raise NotFed("inference()", "the run has ended")
        return source.ask(AskPlan(nodes=team.nodes, seconds=feed_timeout), schema)

    def feed_batch(self, source: Source, order: FeedOrder, *, feed: int, batch: int) -> EpochAccount:
        """Feeds one batch of a stream, and returns when the nodes have taken it; it counts as an epoch.

        Raises:
            HopyardError: As `train`.
        """
        while True:
            try:
                return self._epoch(self._gather(order), source, order, feed=feed, epoch=batch, keeps=False)
            except NodesReplaced as replaced:
                LOG.warning("micro-batch %d is fed again from its beginning: %s", batch, replaced)

    def is_wanted(self) -> bool:
        """Tells whether a node is left that takes rows, or will."""
        return self._nodes.is_wanted()

    def await_streams(self) -> None:
        """Returns when the streams of a run that has ended have seen that."""
        self._streams.settle()

    def end(self, timeout: float | None = None) -> None:
        """Ends the streams, and tells the nodes that nothing more will come; nodes that are late are not waited for.

        Raises:
            StillStreaming: A stream has not ended in time.
            FeedJobFailed: A node cannot be told.
        """
        began = time.monotonic()
        self._streams.stop(timeout)
        self._farewell.say(None if timeout is None else timeout - (time.monotonic() - began))

    def _next_feed(self) -> int:
        self._feeds += 1
        return self._feeds - 1

    def _gather(self, order: FeedOrder) -> Team:
        return self._nodes.gather(order.gather_seconds)

    def _train(self, source: Source, order: FeedOrder) -> tuple[EpochAccount, ...]:
        feed = self._next_feed()
        accounts: list[EpochAccount] = []
        while len(accounts) < order.epochs and (not accounts or accounts[-1].is_whole):
            try:
                for account in self._epochs(source, order, feed=feed, first=len(accounts)):
                    accounts.append(account)
            except NodesReplaced as replaced:
                LOG.warning("epoch %d is fed again from its beginning: %s", len(accounts), replaced)
        return tuple(accounts)

    def _epochs(self, source: Source, order: FeedOrder, *, feed: int, first: int) -> Iterator[EpochAccount]:
        """Feeds the epochs from one on to the nodes that are there now, as long as they want more.

        Raises:
            NodesReplaced: Other nodes are there now.
        """
        keeps = order.epochs - first > 1
        attempt = None
        for epoch in range(first, order.epochs):
            team = self._gather(order)
            if attempt not in (None, team.attempt):
                raise NodesReplaced(team.attempt)
            attempt = team.attempt
            account = self._epoch(team, source, order, feed=feed, epoch=epoch, keeps=keeps)
            yield account
            if not account.is_whole:
                return
            if keeps and self._is_kept(team, feed):
                yield from self._replay(team, order, feed=feed, epochs=range(epoch + 1, order.epochs))
                return
            keeps = False

    def _epoch(
        self, team: Team, source: Source, order: FeedOrder, *, feed: int, epoch: int, keeps: bool
    ) -> EpochAccount:
        """Has Spark feed an epoch.

        Raises:
            NodesReplaced: Other nodes are there now.
        """
        if not team.nodes:
            return EpochAccount(epoch=epoch, rows=0, by_node={}, is_whole=False, attempt=team.attempt)
        began = time.monotonic()
        self._begin(team, feed, keeps=keeps)
        plan = FeedPlan(feed=feed, epoch=epoch, nodes=team.nodes, seed=order.seed)
        reports = self._feed(FeedJob(source, plan), team, order.timeout)
        if reports is not None:
            self._check(team, plan, reports)
        account = EpochAccount.of(epoch, reports or [], time.monotonic() - began)
        account = replace(account, attempt=team.attempt, is_whole=account.is_whole and reports is not None)
        self._keep(feed, account, reports or [])
        return account

    def _begin(self, team: Team, feed: int, *, keeps: bool) -> None:
        """Tells the nodes who is fed, and whether to keep what comes for later epochs."""
        message: dict[str, Any] = {
            "feed": feed,
            "ranks": [node.rank for node in team.nodes],
            "hub": asdict(team.nodes[0].endpoint),
        }
        neighbours = Counter(node.host for node in team.nodes)
        shares = {node.rank: 1 / neighbours[node.host] if keeps else 0 for node in team.nodes}
        answers = [
            node.rank
            for node in team.nodes
            if answer_of(node, BEGIN, {**message, "share": shares[node.rank]}) is not None
        ]
        self._explain(team, answers)

    def _feed(self, job: FeedJob, team: Team, feed_timeout: float) -> list[PartitionReport] | None:
        """Sees a Spark job through and returns its reports; None if it was ended since nobody wanted its rows."""
        if not self._see_through(job, team, feed_timeout):
            return None
        try:
            reports = job.reports()
        except FeedJobFailed:
            self._nodes.check(team.attempt)
            raise
        if not all(report.is_whole for report in reports):
            self._nodes.await_verdict(team.attempt)
        return reports

    def _check(self, team: Team, plan: FeedPlan, reports: Sequence[PartitionReport]) -> None:
        """Compares what was sent with what the nodes count; those that have had enough cannot be asked."""
        message: dict[str, Any] = {"feed": plan.feed, "epoch": plan.epoch}
        answers = team.ask(COUNTS, message)
        self._explain(team, answers)
        team.ask(FORGET, message)
        if not team.silent(answers):
            check(plan.epoch, reports, [dict(answer["partitions"]) for answer in answers.values()])

    def _is_kept(self, team: Team, feed: int) -> bool:
        """Tells whether all nodes have kept all that they got."""
        answers = team.ask(SEAL, {"feed": feed})
        lacking = team.silent([rank for rank, answer in answers.items() if answer["whole"]])
        if lacking:
            LOG.info("later epochs are computed again, since an epoch does not fit on nodes %s", lacking)
        return not lacking

    def _replay(self, team: Team, order: FeedOrder, *, feed: int, epochs: range) -> Iterator[EpochAccount]:
        """Has the nodes read epochs again; yields those that they have all come through.

        Raises:
            NodesReplaced: Other nodes are there now.
        """
        began = time.monotonic()
        job = ReplayJob(team.nodes, epochs, order.seed)
        replaced = self._see_replay_through(job, team, order.timeout)
        seconds = round((time.monotonic() - began) / len(epochs), 3)
        for epoch in epochs:
            rows = job.rows(epoch)
            if rows is None and replaced is not None:
                raise replaced
            account = EpochAccount.replayed(epoch, rows or {}, seconds)
            account = replace(account, attempt=team.attempt, is_whole=rows is not None)
            self._keep(feed, account, [])
            yield account
            if rows is None:
                return

    def _see_replay_through(self, job: ReplayJob, team: Team, feed_timeout: float) -> NodesReplaced | None:
        """Returns when the nodes read no more; if others took their place, this says so."""
        try:
            if self._see_through(job, team, feed_timeout):
                job.reports()
                self._explain(team, job.finished())
        except NodesReplaced as replaced:
            return replaced
        return None

    def _see_through(self, job: FeedJob | ReplayJob, team: Team, feed_timeout: float) -> bool:
        """Returns whether a job came to its own end; it is ended if nobody wants its rows, or on any error."""
        try:
            job.start()
            return self._watch(job, team.attempt, feed_timeout)
        except WireTimeout:  # of a node, which may be about to be given up
            job.cancel()
            self._nodes.await_verdict(team.attempt)
            return False
        except BaseException:
            job.cancel()
            raise

    def _watch(self, job: FeedJob | ReplayJob, attempt: int, feed_timeout: float) -> bool:
        """Waits for the end of a job; ends it if nobody wants its rows. Returns whether it came to its own end."""
        progress = Progress(feed_timeout)
        while not job.wait(LOOK_SECONDS):
            now = self._nodes.look()
            is_over = self._run.has_ended() or now.attempt != attempt
            if is_over or any(map(has_failed, now.nodes)) or all(map(has_enough, now.nodes)):
                job.cancel()
                self._nodes.await_verdict(attempt)
                return False
            progress.look(now.nodes)
        return True

    def _explain(self, team: Team, answers: Collection[int]) -> None:
        """Finds out why nodes have not answered, if some have not; returns if they have had enough."""
        silent = team.silent(answers)
        if silent:
            self._nodes.await_verdict(team.attempt, silent)
