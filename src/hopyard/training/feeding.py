"""Feeds the nodes of a cluster from the driver: starts Spark's jobs, watches the nodes, keeps account."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from hopyard.cluster.node_status import NodeStatus, Phase
from hopyard.errors import BadArguments, FeedJobFailed, NotFed
from hopyard.feed.account import EpochAccount, check
from hopyard.feed.asker import AskPlan
from hopyard.feed.feed_state import ADDRESS
from hopyard.feed.feeder import FeedPlan, PartitionReport
from hopyard.feed.remote import FeedNode, ask_node
from hopyard.feed.replay_job import ReplayJob
from hopyard.feed.service import BEGIN, COUNTS, END, FORGET, SEAL
from hopyard.feed.sources import FeedJob, Source, source_of
from hopyard.training.feed_watch import Progress, has_enough, has_failed
from hopyard.training.query_stream import StreamOrder
from hopyard.training.streaming import StreamFeed, Streams, is_stream
from hopyard.wire import Endpoint

if TYPE_CHECKING:
    from hopyard.training.feedable import Feedable

LOG = logging.getLogger(__name__)
LOOK_SECONDS = 0.05
ANNOUNCE_SECONDS = 120.0
VERDICT_SECONDS = 60.0


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


class Feeding:
    """Feeds one run, from its first call of train() to its end.

    Args:
        run: The run.
        token: The secret that its nodes were given.
        ranks: The nodes that are fed.
        keep: Receives the account of each epoch, with its number of the feed and what the tasks report.
    """

    def __init__(
        self,
        run: Feedable,
        *,
        token: str,
        ranks: Sequence[int],
        keep: Callable[[int, EpochAccount, Sequence[PartitionReport]], None],
    ) -> None:
        self._run = run
        self._token = token
        self._ranks = tuple(ranks)
        self._keep = keep
        self._feeds = 0
        self._streams = Streams(run, self)

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
        nodes = self._wait_for_nodes()
        if not nodes:
            raise NotFed("inference()", "the run has ended")
        return source.ask(AskPlan(nodes=tuple(nodes), seconds=feed_timeout), schema)

    def feed_batch(self, source: Source, order: FeedOrder, *, feed: int, batch: int) -> EpochAccount:
        """Feeds one batch of a stream, and returns when the nodes have taken it; it counts as an epoch.

        Raises:
            HopyardError: As `train`.
        """
        account = None
        while account is None:
            attempt = self._run.attempt
            nodes = self._wait_for_nodes()
            if not nodes:
                return EpochAccount(epoch=batch, rows=0, by_node={}, is_whole=False)
            self._begin(nodes, feed, keeps=False)
            plan = FeedPlan(feed=feed, epoch=batch, nodes=tuple(nodes), seed=order.seed)
            account = self._epoch(source, plan, attempt, order.timeout)
        return account

    def is_wanted(self) -> bool:
        """Tells whether a node is left that takes rows, or will."""
        nodes = self._fed()
        return not nodes or not all(map(has_enough, nodes))

    def await_streams(self) -> None:
        """Returns when the streams of a run that has ended have seen that."""
        self._streams.settle()

    def _next_feed(self) -> int:
        self._feeds += 1
        return self._feeds - 1

    def _train(self, source: Source, order: FeedOrder) -> tuple[EpochAccount, ...]:
        feed = self._next_feed()
        accounts: list[EpochAccount] = []
        keeps = True
        while len(accounts) < order.epochs and (not accounts or accounts[-1].is_whole):
            attempt = self._run.attempt
            nodes = self._wait_for_nodes()
            if not nodes:
                accounts.append(EpochAccount(epoch=len(accounts), rows=0, by_node={}, is_whole=False))
                break
            keeps = keeps and order.epochs - len(accounts) > 1
            self._begin(nodes, feed, keeps=keeps)
            plan = FeedPlan(feed=feed, epoch=len(accounts), nodes=tuple(nodes), seed=order.seed)
            account = self._epoch(source, plan, attempt, order.timeout)
            if account is None:
                continue  # the nodes were started again
            accounts.append(account)
            keeps = keeps and account.is_whole and self._is_kept(nodes, feed)
            if keeps:
                accounts += self._replay(nodes, feed, range(len(accounts), order.epochs), attempt, order)
        return tuple(accounts)

    def end(self, timeout: float | None = None) -> None:
        """Ends the streams, and tells the nodes that nothing more will come.

        Raises:
            StillStreaming: A stream has not ended in time.
        """
        self._streams.stop(timeout)
        if self._run.has_ended():
            return
        for node in self._wait_for_nodes():
            self._tell_end(node)

    def _tell_end(self, node: FeedNode) -> None:
        """Tells a node that nothing more will come, as long as it runs: it would wait for ever otherwise."""
        deadline = time.monotonic() + ANNOUNCE_SECONDS
        while ask_node(node, END, {}) is None:
            status = self._run.nodes()[node.rank]
            if self._run.has_ended(LOOK_SECONDS) or status.phase is not Phase.RUNNING:
                return  # how it ended is told elsewhere
            if time.monotonic() > deadline:
                who = f"node {node.rank} on {node.host}"
                raise FeedJobFailed(f"{who} could not be told of the end for {ANNOUNCE_SECONDS:g} s")

    def _begin(self, nodes: Sequence[FeedNode], feed: int, *, keeps: bool) -> None:
        """Tells the nodes who is fed, and whether to keep what comes for later epochs."""
        message: dict[str, Any] = {
            "feed": feed,
            "ranks": [node.rank for node in nodes],
            "hub": asdict(nodes[0].endpoint),
        }
        neighbours = Counter(node.host for node in nodes)
        for node in nodes:
            ask_node(node, BEGIN, {**message, "share": 1 / neighbours[node.host] if keeps else 0})

    def _is_kept(self, nodes: Sequence[FeedNode], feed: int) -> bool:
        """Tells whether all nodes have kept all that they got."""
        answers = [ask_node(node, SEAL, {"feed": feed}) for node in nodes]
        lacking = [
            node.rank for node, answer in zip(nodes, answers, strict=True) if not (answer and answer["whole"])
        ]
        if lacking:
            LOG.info("later epochs are computed again, since an epoch does not fit on nodes %s", lacking)
        return not lacking

    def _epoch(
        self, source: Source, plan: FeedPlan, attempt: int, feed_timeout: float
    ) -> EpochAccount | None:
        """Has Spark feed an epoch; None if the nodes were started again meanwhile."""
        began = time.monotonic()
        job = FeedJob(source, plan)
        went_well = self._see_through(job, attempt, feed_timeout)
        if self._run.attempt != attempt:
            return None
        reports = job.reports() if went_well else []
        account = EpochAccount.of(plan.epoch, reports, time.monotonic() - began)
        if went_well:
            self._check(plan, reports)
        else:
            account = replace(account, is_whole=False)
        self._keep(plan.feed, account, reports)
        return account

    def _replay(
        self, nodes: Sequence[FeedNode], feed: int, epochs: range, attempt: int, order: FeedOrder
    ) -> list[EpochAccount]:
        """Has the nodes read epochs again; returns those that they have all come through."""
        began = time.monotonic()
        job = ReplayJob(nodes, epochs, order.seed)
        self._see_through(job, attempt, order.timeout)
        accounts = []
        seconds = round((time.monotonic() - began) / len(epochs), 3)
        for epoch in epochs:
            rows = job.rows(epoch)
            if rows is None:
                if self._run.attempt == attempt:
                    accounts.append(EpochAccount(epoch=epoch, rows=0, by_node={}, is_whole=False))
                break
            accounts.append(EpochAccount.replayed(epoch, rows, seconds))
        for account in accounts:
            self._keep(feed, account, [])
        return accounts

    def _see_through(self, job: FeedJob | ReplayJob, attempt: int, feed_timeout: float) -> bool:
        """Returns whether a job came to its own end; it is ended if nobody wants its rows, or on any error."""
        job.start()
        try:
            return self._watch(job, attempt, feed_timeout)
        except BaseException:
            job.cancel()
            raise

    def _watch(self, job: FeedJob | ReplayJob, attempt: int, feed_timeout: float) -> bool:
        """Waits for the end of a job; ends it if nobody wants its rows. Returns whether it came to its own end."""
        progress = Progress(feed_timeout)
        while not job.wait(LOOK_SECONDS):
            nodes = self._fed()
            is_over = self._run.has_ended() or self._run.attempt != attempt
            if is_over or any(map(has_failed, nodes)) or all(map(has_enough, nodes)):
                job.cancel()
                self._await_verdict(attempt)
                return False
            progress.look(nodes)
        if not all(report.is_whole for report in job.reports()):
            self._await_verdict(attempt)
        self._check_run()
        return True

    def _await_verdict(self, attempt: int) -> None:
        """Waits until it is known why nodes take no more rows, unless they have had enough.

        Raises:
            HopyardError: What ended the run.
        """
        deadline = time.monotonic() + VERDICT_SECONDS
        while self._run.attempt == attempt and not all(map(has_enough, self._fed())):
            if self._run.has_ended(LOOK_SECONDS):
                break
            if time.monotonic() > deadline:
                raise FeedJobFailed(f"no node took the rows, and none has failed for {VERDICT_SECONDS:g} s")
        self._check_run()

    def _check(self, plan: FeedPlan, reports: Sequence[PartitionReport]) -> None:
        """Compares what was sent with what the nodes count; those that have ended cannot be asked."""
        message: dict[str, Any] = {"feed": plan.feed, "epoch": plan.epoch}
        answers = [ask_node(node, COUNTS, message) for node in plan.nodes]
        for node in plan.nodes:
            ask_node(node, FORGET, message)
        if None not in answers:
            check(plan.epoch, reports, [dict(answer["partitions"]) for answer in answers if answer])

    def _check_run(self) -> None:
        """Raises what ended the run, if it has ended and something did."""
        error = self._run.failure()
        if error is not None:
            raise error

    def _fed(self) -> list[NodeStatus]:
        return [node for node in self._run.nodes() if node.rank in self._ranks]

    def _wait_for_nodes(self) -> list[FeedNode]:
        """Returns the nodes that can be fed once all are there; none if the run has ended well."""
        deadline = time.monotonic() + ANNOUNCE_SECONDS
        while not self._run.has_ended(LOOK_SECONDS):
            nodes = self._fed()
            absent = [
                node for node in nodes if ADDRESS not in node.notes and node.phase is not Phase.FINISHED
            ]
            if nodes and not absent:
                return [self._node(node) for node in nodes if node.phase is Phase.RUNNING]
            if any(node.phase is not Phase.RUNNING for node in absent):
                deadline = time.monotonic() + ANNOUNCE_SECONDS  # who is awaited has a deadline of his own
            elif time.monotonic() > deadline:
                who = ", ".join(f"node {node.rank} on {node.host}" for node in absent)
                raise NotFed(
                    "train()", f"{ANNOUNCE_SECONDS:g} s after their start, these take no rows: {who}"
                )
        self._check_run()
        return []

    def _node(self, node: NodeStatus) -> FeedNode:
        host, _, port = node.notes[ADDRESS].rpartition(":")
        endpoint = Endpoint(host=host, port=int(port), token=self._token)
        return FeedNode(rank=node.rank, host=node.host, endpoint=endpoint)
