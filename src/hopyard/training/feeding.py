"""Feeds the nodes of a cluster from the driver: starts Spark's jobs, watches the nodes, keeps account."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from hopyard.cluster.node_status import NodeStatus, Phase
from hopyard.errors import FeedStalled, NotFed, PeerGone
from hopyard.feed.account import EpochAccount, check
from hopyard.feed.feed_state import ADDRESS, FeedState
from hopyard.feed.feeder import FeedNode, FeedPlan, PartitionReport
from hopyard.feed.service import COUNTS, END, FORGET
from hopyard.feed.sources import FeedJob, Source
from hopyard.wire import Endpoint, WireClient

LOG = logging.getLogger(__name__)
LOOK_SECONDS = 0.05
END_SECONDS = 600.0
CALL_SECONDS = 30.0
MESSAGE_BYTES = 64 << 20


class FedRun(Protocol):
    """A run, as far as feeding it is concerned."""

    @property
    def attempt(self) -> int:
        """How often its nodes were started again."""

    def nodes(self) -> tuple[NodeStatus, ...]:
        """Returns how the nodes are doing."""

    def is_over(self) -> bool:
        """Whether it has ended."""

    def check(self) -> None:
        """Raises what ended the run, if something did."""


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

    def train(self, source: Source, *, epochs: int, feed_timeout: float) -> tuple[EpochAccount, ...]:
        """Feeds all rows once for each epoch; returns when the nodes have taken them.

        Raises:
            FeedStalled: Rows wait, and no node has consumed any for `feed_timeout` seconds.
            FeedJobFailed: Spark could not compute the rows.
            FeedMiscounted: Rows were lost or came twice.
            HopyardError: Whatever ended the run meanwhile.
        """
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
        if self._run.is_over():
            return
        for node in self._wait_for_nodes(END_SECONDS):
            try:
                with self._client(node) as client:
                    client.call(END, {})
            except PeerGone as error:  # it has ended, or failed, which is told elsewhere
                LOG.info("node %d was not told of the end of its feed: %s", node.rank, error)

    def _epoch(self, source: Source, feed: int, epoch: int, feed_timeout: float) -> EpochAccount | None:
        attempt = self._run.attempt
        nodes = self._wait_for_nodes(feed_timeout)
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
        self._keep(feed, account, reports)
        return account

    def _watch(self, job: FeedJob, attempt: int, feed_timeout: float) -> bool:
        """Waits for the end of a job; ends it if nobody wants its rows. Returns whether it came to its own end."""
        consumed, since = -1, time.monotonic()
        while not job.wait(LOOK_SECONDS):
            nodes = self._fed()
            if self._run.is_over() or self._run.attempt != attempt or _nobody_wants_more(nodes):
                job.cancel()
                self._run.check()
                return False
            states = [FeedState.of(node.notes) for node in nodes]
            now = sum(state.consumed for state in states)
            if now != consumed or not any(state.blocked for state in states):
                consumed, since = now, time.monotonic()
            elif time.monotonic() - since > feed_timeout:
                raise FeedStalled(feed_timeout, tuple(_words(node) for node in nodes))
        self._run.check()
        return True

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

    def _fed(self) -> list[NodeStatus]:
        return [node for node in self._run.nodes() if node.rank in self._ranks]

    def _wait_for_nodes(self, seconds: float) -> list[FeedNode]:
        """Returns the nodes that can be fed once all are there; none if the run has ended well."""
        deadline = time.monotonic() + seconds
        while not self._run.is_over():
            nodes = self._fed()
            absent = [
                node for node in nodes if ADDRESS not in node.notes and node.phase is not Phase.FINISHED
            ]
            if nodes and not absent:
                return [self._node(node) for node in nodes if node.phase is Phase.RUNNING]
            if time.monotonic() > deadline:
                who = ", ".join(f"node {node.rank} ({node.phase.value})" for node in absent)
                raise NotFed("train()", f"after {seconds:g} s (feed_timeout) these take no rows yet: {who}")
            time.sleep(LOOK_SECONDS)
        self._run.check()
        return []

    def _node(self, node: NodeStatus) -> FeedNode:
        host, _, port = node.notes[ADDRESS].rpartition(":")
        endpoint = Endpoint(host=host, port=int(port), token=self._token)
        return FeedNode(rank=node.rank, host=node.host, endpoint=endpoint)

    def _client(self, node: FeedNode) -> WireClient:
        return WireClient(node.endpoint, timeout=CALL_SECONDS, max_message_bytes=MESSAGE_BYTES)


def _nobody_wants_more(nodes: Sequence[NodeStatus]) -> bool:
    return all(node.phase is Phase.FINISHED or FeedState.of(node.notes).is_stopped for node in nodes)


def _words(node: NodeStatus) -> str:
    state = FeedState.of(node.notes)
    return f"node {node.rank} on {node.host} has received {state.received} rows and consumed {state.consumed}"
