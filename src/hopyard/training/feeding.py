"""Feeds the nodes of a cluster from the driver: starts Spark's jobs, watches the nodes, keeps account."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from hopyard.cluster.node_status import NodeStatus, Phase
from hopyard.errors import BadArguments, FeedJobFailed, FeedStalled, NotFed, PeerGone
from hopyard.feed.account import EpochAccount, check
from hopyard.feed.asker import AskPlan
from hopyard.feed.feed_state import ADDRESS, FeedState
from hopyard.feed.feeder import FeedNode, FeedPlan, PartitionReport
from hopyard.feed.service import COUNTS, END, FORGET
from hopyard.feed.sources import FeedJob, Source, source_of
from hopyard.wire import Endpoint, WireClient

LOG = logging.getLogger(__name__)
LOOK_SECONDS = 0.05
ANNOUNCE_SECONDS = 120.0
VERDICT_SECONDS = 60.0
CALL_SECONDS = 30.0
MESSAGE_BYTES = 64 << 20


class FedRun(Protocol):
    """A run, as far as feeding it is concerned."""

    @property
    def attempt(self) -> int:
        """How often its nodes were started again."""

    def has_ended(self, within_seconds: float = 0.0) -> bool:
        """Tells whether it has ended."""

    def nodes(self) -> tuple[NodeStatus, ...]:
        """Returns how the nodes are doing."""

    def wait(self) -> object:
        """Raises what ended the run, if something did."""

    def stop(self, reason: str) -> None:
        """Ends the run."""


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
        run: FedRun,
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

    def train(self, data: object, *, epochs: int, feed_timeout: float) -> tuple[EpochAccount, ...]:
        """Feeds all rows once for each epoch; returns when the nodes have taken them. A failure ends the run.

        Raises:
            BadArguments: The data is nothing that can be fed, or the number of epochs none.
            FeedStalled: Rows wait, and no node has consumed any for `feed_timeout` seconds.
            FeedJobFailed: Spark could not compute the rows.
            FeedMiscounted: Rows were lost or came twice.
            HopyardError: Whatever ended the run meanwhile.
        """
        if type(epochs) is not int or epochs < 1:
            raise BadArguments("train", f"epochs={epochs!r} is no whole number of at least 1")
        source = source_of(data)
        try:
            return self._train(source, epochs, feed_timeout)
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

    def _train(self, source: Source, epochs: int, feed_timeout: float) -> tuple[EpochAccount, ...]:
        feed = self._feeds
        self._feeds += 1
        accounts: list[EpochAccount] = []
        while len(accounts) < epochs:
            account = self._epoch(source, feed, len(accounts), feed_timeout)
            if account is None:
                continue  # the nodes were started again
            accounts.append(account)
            if not account.is_whole:
                break
        return tuple(accounts)

    def end(self) -> None:
        """Tells the nodes that nothing more will come."""
        if self._run.has_ended():
            return
        for node in self._wait_for_nodes():
            try:
                with self._client(node) as client:
                    client.call(END, {})
            except PeerGone as error:  # it has ended, or failed, which is told elsewhere
                LOG.info("node %d was not told of the end of its feed: %s", node.rank, error)

    def _epoch(self, source: Source, feed: int, epoch: int, feed_timeout: float) -> EpochAccount | None:
        attempt = self._run.attempt
        nodes = self._wait_for_nodes()
        began = time.monotonic()
        if not nodes:
            return EpochAccount(epoch=epoch, rows=0, by_node={}, partitions=0, is_whole=False)
        job = FeedJob(source, FeedPlan(feed=feed, epoch=epoch, nodes=tuple(nodes)))
        job.start()
        try:
            went_well = self._watch(job, attempt, feed_timeout)
        except BaseException:
            job.cancel()
            raise
        if self._run.attempt != attempt:
            return None
        reports = job.reports() if went_well else []
        account = EpochAccount.of(epoch, reports, time.monotonic() - began)
        if went_well:
            self._check(nodes, feed, epoch, reports)
        else:
            account = replace(account, is_whole=False)
        self._keep(feed, account, reports)
        return account

    def _watch(self, job: FeedJob, attempt: int, feed_timeout: float) -> bool:
        """Waits for the end of a job; ends it if nobody wants its rows. Returns whether it came to its own end."""
        progress = Progress(feed_timeout)
        while not job.wait(LOOK_SECONDS):
            nodes = self._fed()
            is_over = self._run.has_ended() or self._run.attempt != attempt
            if is_over or any(map(_has_failed, nodes)) or all(map(_has_enough, nodes)):
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
        while self._run.attempt == attempt and not all(map(_has_enough, self._fed())):
            if self._run.has_ended(LOOK_SECONDS):
                break
            if time.monotonic() > deadline:
                raise FeedJobFailed(f"no node took the rows, and none has failed for {VERDICT_SECONDS:g} s")
        self._check_run()

    def _check(
        self, nodes: Sequence[FeedNode], feed: int, epoch: int, reports: Sequence[PartitionReport]
    ) -> None:
        """Compares what was sent with what the nodes count; those that have ended cannot be asked."""
        counts: list[Mapping[int, int]] = []
        for node in nodes:
            try:
                with self._client(node) as client:
                    found: Any = client.call(COUNTS, {"feed": feed, "epoch": epoch})["partitions"]
                    client.call(FORGET, {"feed": feed, "epoch": epoch})
            except PeerGone:
                return
            counts.append(dict(found))
        check(epoch, reports, counts)

    def _check_run(self) -> None:
        """Raises what ended the run, if it has ended and something did."""
        if self._run.has_ended():
            self._run.wait()

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

    def _client(self, node: FeedNode) -> WireClient:
        return WireClient(node.endpoint, timeout=CALL_SECONDS, max_message_bytes=MESSAGE_BYTES)


class Progress:
    """Whether rows are consumed while there are rows to consume.

    Args:
        seconds: How long there may be none.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._consumed = -1
        self._since = time.monotonic()

    def look(self, nodes: Sequence[NodeStatus]) -> None:
        """Takes note of how the nodes are doing.

        Raises:
            FeedStalled: They have not consumed anything for too long.
        """
        states = [FeedState.of(node.notes) for node in nodes]
        consumed = sum(state.consumed for state in states)
        if consumed != self._consumed or not any(state.blocked for state in states):
            self._consumed, self._since = consumed, time.monotonic()
        elif time.monotonic() - self._since > self._seconds:
            raise FeedStalled(self._seconds, tuple(map(_words, nodes)))


def _has_failed(node: NodeStatus) -> bool:
    return FeedState.of(node.notes).has_failed or node.phase in (Phase.FAILED, Phase.KILLED, Phase.LOST)


def _has_enough(node: NodeStatus) -> bool:
    return not _has_failed(node) and (node.phase is Phase.FINISHED or FeedState.of(node.notes).is_stopped)


def _words(node: NodeStatus) -> str:
    state = FeedState.of(node.notes)
    return f"node {node.rank} on {node.host} has received {state.received} rows and consumed {state.consumed}"
