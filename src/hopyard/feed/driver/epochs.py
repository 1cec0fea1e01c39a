"""Feeds one epoch: starts Spark's job, watches the nodes meanwhile, keeps account."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from hopyard.errors import BadArguments, FeedJobFailed, NodesReplaced, NotFed, SchedulerHangs, WireTimeout
from hopyard.feed.account import EpochAccount, check
from hopyard.feed.driver.consumption import Progress, ended_early, has_enough, has_failed
from hopyard.feed.driver.replay_job import ReplayJob
from hopyard.feed.driver.sources import FeedJob, FrameSource, Source
from hopyard.feed.driver.targets import POLL_SECONDS, FedGroup, FedNodes, FedRun
from hopyard.feed.driver.validation import nothing_to_train_on, nothing_to_validate_with
from hopyard.feed.node.service import BEGIN, COUNTS, END_EPOCH, FORGET, HELD, HOLD, SEAL
from hopyard.feed.signed_rows import RowSigner
from hopyard.feed.state import FeedState
from hopyard.feed.task.partition_sender import FeedPlan, PartitionReport
from hopyard.spark.job import job_description
from hopyard.tracking import RunId

if TYPE_CHECKING:
    from hopyard.feed.driver.feeding import FeedOrder

LOG = logging.getLogger(__name__)

Keep: TypeAlias = Callable[[int, EpochAccount, Sequence[PartitionReport]], None]


class EpochFeeder:
    """Feeds epochs to the nodes of a run; an epoch is done when nodes of one attempt have taken all of it.

    Args:
        run: The run.
        nodes: Those of it that are fed.
        keep: Receives the account of each epoch, with its number of the feed and what the tasks report.
        signer: Signs rows that are pickled.
    """

    def __init__(self, run: FedRun, nodes: FedNodes, keep: Keep, signer: RowSigner) -> None:
        self._run = run
        self._signer = signer
        self._nodes = nodes
        self._keep = keep

    def feed(
        self,
        team: FedGroup,
        source: Source,
        order: FeedOrder,
        *,
        feed: int,
        epoch: int,
        number: int,
        keeps: bool,
        left: int,
    ) -> EpochAccount:
        """Has Spark feed an epoch, or the next rows of a stream.

        Args:
            team: Whom.
            source: The rows.
            order: How to feed them.
            feed: Number of the feed.
            epoch: Number of the epoch in the feed.
            number: Its number among those of all calls of `train`.
            keeps: Whether the nodes are to keep the rows for later epochs.
            left: How many epochs are left, this one included; 0 for a stream.

        Raises:
            NodesReplaced: Other nodes are there now.
            NotFed: All nodes have returned.
        """
        if not team.nodes:
            raise NotFed("train()", "the functions of all nodes have returned; start another cluster")
        began = time.monotonic()
        self._begin(team, feed, number, keeps=keeps, left=left, is_pickled=source.is_pickled)
        plan = FeedPlan(feed=feed, epoch=epoch, nodes=team.nodes, signer=self._signer, seed=order.seed)
        what = f"feed epoch {epoch + 1} of {order.epochs}" if left else f"feed micro-batch {epoch}"
        called = job_description(RunId.parse(self._run.run_id), what)
        job = FeedJob(source, plan, description=called, timeout=order.timeout)
        reports = self._reports(job, team, order.timeout)
        ended_by = None if reports is None else self._check(team, plan, reports)
        account = replace(
            EpochAccount.of(epoch, reports or [], time.monotonic() - began),
            attempt=team.attempt,
            ended_by=tuple(node.rank for node in team.nodes) if ended_by is None else ended_by,
        )
        account = replace(account, is_whole=account.is_whole and reports is not None)
        _check_rows(source, order, account)
        self._keep(feed, account, reports or [])
        if account.is_whole and left:
            self._nodes.ask(team, END_EPOCH, lambda _: {"feed": feed, "epoch": epoch})
        return account

    def hold(self, team: FedGroup, source: Source, order: FeedOrder, *, feed: int) -> None:
        """Has Spark feed all rows to each of the nodes, which keep them to validate with.

        Raises:
            NodesReplaced: Other nodes are there now.
            FeedJobFailed: They do not fit on a node's disk, or are not the same each time that Spark computes them.
        """
        shares = _disk_shares(team)
        message = {"feed": feed, "pickled": source.is_pickled}
        self._nodes.ask(team, HOLD, lambda node: {**message, "share": shares[node.rank]})
        for node in team.nodes:
            plan = FeedPlan(feed=feed, epoch=0, nodes=(node,), signer=self._signer)
            what = job_description(RunId.parse(self._run.run_id), f"validation data for node {node.rank}")
            job = FeedJob(source, plan, description=what, timeout=order.timeout)
            reports = self._reports(job, team, order.timeout)
            if reports is None:
                return  # nobody wants any
            self._check(replace(team, nodes=(node,)), plan, reports)
        _check_held(team, order, self._nodes.ask(team, HELD, lambda _: {}))

    def _begin(
        self, team: FedGroup, feed: int, number: int, *, keeps: bool, left: int, is_pickled: bool
    ) -> None:
        """Tells the nodes who is fed, which epoch, what kind of rows, and whether to keep them for later epochs."""
        message: dict[str, Any] = {
            "feed": feed,
            "epoch": number,
            "epochs_left": left,
            "pickled": is_pickled,
            "ranks": [node.rank for node in team.nodes],
            "hub": asdict(team.nodes[0].endpoint),
        }
        shares = _disk_shares(team)
        self._nodes.ask(team, BEGIN, lambda node: {**message, "share": shares[node.rank] if keeps else 0})

    def _reports(self, job: FeedJob, team: FedGroup, feed_timeout: float) -> list[PartitionReport] | None:
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

    def _check(self, team: FedGroup, plan: FeedPlan, reports: Sequence[PartitionReport]) -> tuple[int, ...]:
        """Compares what was sent with what the nodes count; returns those that have had enough."""
        message: dict[str, Any] = {"feed": plan.feed, "epoch": plan.epoch}
        answers = self._nodes.ask(team, COUNTS, lambda _: message)
        team.ask(FORGET, message)
        silent = team.silent(answers)
        if not silent:
            check(plan.epoch, reports, [dict(answer["partitions"]) for answer in answers.values()])
        return tuple(sorted([*silent, *(rank for rank, answer in answers.items() if answer["stopped"])]))

    def is_kept(self, team: FedGroup, feed: int) -> bool:
        """Tells whether all nodes have kept all that they got."""
        answers = team.ask(SEAL, {"feed": feed})
        lacking = team.silent([rank for rank, answer in answers.items() if answer["whole"]])
        if lacking:
            LOG.info("later epochs are computed again, since an epoch does not fit on nodes %s", lacking)
        return not lacking

    def replay(self, team: FedGroup, order: FeedOrder, *, feed: int, epochs: range) -> Iterator[EpochAccount]:
        """Has the nodes read epochs again; yields those that they have all come through.

        Raises:
            NodesReplaced: Other nodes are there now.
        """
        began = time.monotonic()
        job = ReplayJob(team.nodes, epochs, order.seed)
        replaced = self._see_replay_through(job, team, order.timeout)
        self._hear(job, team, feed)
        seconds = round((time.monotonic() - began) / len(epochs), 3)
        for epoch in epochs:
            rows = job.rows(epoch)
            if rows is None and replaced is not None:
                raise replaced
            account = replace(
                EpochAccount.replayed(epoch, rows or {}, seconds),
                attempt=team.attempt,
                is_whole=rows is not None,
                ended_by=self._ended_early(team, feed, epoch),
            )
            self._keep(feed, account, [])
            yield account
            if rows is None:
                return

    def _hear(self, job: ReplayJob, team: FedGroup, feed: int) -> None:
        """Tells a job what nodes have told with their heartbeats: those that return after their last epoch answer no more."""
        now = self._nodes.look()
        fed = {node.rank for node in team.nodes}
        for node in now.nodes if now.attempt == team.attempt else ():
            of, epochs, rows = FeedState.of(node.notes).replayed
            if of == feed and node.rank in fed:
                job.hear(node.rank, epochs, rows)

    def _ended_early(self, team: FedGroup, feed: int, epoch: int) -> tuple[int, ...]:
        """Returns the nodes that have ended their feed before they had read an epoch."""
        now = self._nodes.look()
        nodes = now.nodes if now.attempt == team.attempt else now.before
        return tuple(sorted(ended_early(nodes, feed, epoch)))

    def _see_replay_through(
        self, job: ReplayJob, team: FedGroup, feed_timeout: float
    ) -> NodesReplaced | None:
        """Returns when the nodes read no more; if others took their place, this says so."""
        try:
            if self._see_through(job, team, feed_timeout):
                job.reports()
                if behind := team.silent(job.finished()):
                    self._nodes.await_verdict(team.attempt, behind)
        except NodesReplaced as replaced:
            return replaced
        return None

    def _see_through(self, job: FeedJob | ReplayJob, team: FedGroup, feed_timeout: float) -> bool:
        """Returns whether a job came to its own end; it is ended if nobody wants its rows, or on any error."""
        try:
            job.start()
            return self._watch(job, team.attempt, feed_timeout)
        except WireTimeout:  # of a node, which may be about to be given up
            job.cancel()
            self._nodes.await_verdict(team.attempt)
            return False
        except SchedulerHangs:
            raise  # the job cannot be cancelled, either
        except BaseException:
            job.cancel()
            raise

    def _watch(self, job: FeedJob | ReplayJob, attempt: int, feed_timeout: float) -> bool:
        """Waits for the end of a job; ends it if nobody wants its rows. Returns whether it came to its own end."""
        progress = Progress(feed_timeout)
        while not job.wait(POLL_SECONDS):
            now = self._nodes.look()
            is_over = self._run.has_ended() or now.attempt != attempt
            if is_over or any(map(has_failed, now.nodes)) or all(map(has_enough, now.nodes)):
                job.cancel()
                self._nodes.await_verdict(attempt)
                return False
            progress.look(now.nodes)
        return True


def _disk_shares(team: FedGroup) -> dict[int, float]:
    """Returns by rank which part of its host's disk a node may take."""
    neighbours = Counter(node.host for node in team.nodes)
    return {node.rank: 1 / neighbours[node.host] for node in team.nodes}


def _check_rows(source: Source, order: FeedOrder, account: EpochAccount) -> None:
    """Refuses data without rows: a model that has seen nothing would pass for a trained one.

    Raises:
        BadArguments: It has none.
    """
    if not account.is_whole or account.rows or account.dropped:
        return
    is_frame = isinstance(source, FrameSource)
    if is_frame or order.validation is not None:  # programs of TensorFlowOnSpark may feed an empty RDD
        data = "DataFrame" if is_frame else "RDD"
        raise BadArguments("train", nothing_to_train_on(data, order.validation))


def _check_held(team: FedGroup, order: FeedOrder, answers: Mapping[int, Mapping[str, Any]]) -> None:
    full = [node for node in team.nodes if node.rank in answers and not answers[node.rank]["whole"]]
    if full:
        who = ", ".join(f"node {node.rank} on {node.host}" for node in full)
        raise FeedJobFailed(f"the rows for validation do not fit on the disk of {who}; validate with fewer")
    counts = {rank: answer["rows"] for rank, answer in answers.items()}
    if counts and not any(counts.values()):
        raise BadArguments("train", nothing_to_validate_with(order.validation))
    if len(set(counts.values())) > 1:
        raise FeedJobFailed(
            f"the rows for validation differ each time that Spark computes them ({counts} by node); "
            "cache() the data before train()"
        )
