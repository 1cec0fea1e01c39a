"""A node's part in training in step: it takes a batch when all nodes can take one."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from hopyard.errors import NotFed, NothingToRepeat, NoWholeBatch
from hopyard.feed.lockstep.hub import Answer, Ask, LockstepCount, LockstepHub, Uneven, Verdict
from hopyard.feed.remote import FeedNode, ask_node
from hopyard.wire import Json

LOG = logging.getLogger(__name__)
AGREE = "agree"
LEAVE = "leave"
POLL_SECONDS = 5.0
GROUP_SECONDS = 600.0
REFUSALS = (NothingToRepeat, NoWholeBatch)


@dataclass(frozen=True, slots=True, kw_only=True)
class LockstepGroup:
    """The nodes that are fed together.

    Attributes:
        hub: The one that keeps the counts.
        ranks: All of them.
    """

    hub: FeedNode
    ranks: tuple[int, ...]


class _Scope(NamedTuple):
    """Batches that are counted together: those of one epoch, or of all if that is None."""

    policy: Uneven
    epoch: int | None

    @classmethod
    def of(cls, message: Mapping[str, Any]) -> Self:
        return cls(Uneven(message["policy"]), message["epoch"])

    def is_after(self, other: Self) -> bool:
        return (
            self.policy is other.policy
            and self.epoch is not None
            and other.epoch is not None
            and self.epoch > other.epoch
        )


class LockstepGroups:
    """Knows the group once the driver has told, and keeps its counts if this node is the hub."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._group: LockstepGroup | None = None
        self._agreements: dict[_Scope, LockstepHub] = {}
        self._left: dict[_Scope, set[int]] = {}

    def meet(self, group: LockstepGroup) -> None:
        """Records who is fed."""
        with self._changed:
            self._group = group
            self._changed.notify_all()

    @property
    def is_known(self) -> bool:
        """Whether the driver has told who is fed."""
        with self._changed:
            return self._group is not None

    def group(self, seconds: float = GROUP_SECONDS) -> LockstepGroup:
        """Returns who is fed, once that is known.

        Raises:
            NotFed: The driver has not told for so many seconds.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: self._group is not None, seconds):
                raise NotFed("training in step", f"nobody was fed for {seconds:g} s")
            assert self._group is not None
            return self._group

    def agree(self, message: Mapping[str, Any]) -> dict[str, Json]:
        """Answers a node that wants a batch: with a verdict, or with why there can be none."""
        ask = Ask.from_json(message)
        agreement = self._agreement(_Scope.of(message))
        try:
            verdict = agreement.agree(
                ask.rank,
                have=ask.have,
                final=ask.final,
                wanted=ask.wanted,
                timeout=POLL_SECONDS,
                rows=ask.rows,
            )
        except REFUSALS as error:  # told as such: for the wire it would be a failure of this node
            return {"refused": type(error).__name__, "fields": [list(field) for field in error.args]}
        return verdict.to_json()

    def leave(self, message: Mapping[str, Any]) -> None:
        """Records that a node has stopped by itself; it takes no part in later epochs, either."""
        scope, rank = _Scope.of(message), message["rank"]
        self._agreement(scope).leave(rank, used=message["used"])
        with self._changed:
            self._left.setdefault(scope, set()).add(rank)
            later = [agreement for known, agreement in self._agreements.items() if known.is_after(scope)]
        for agreement in later:
            agreement.leave(rank, used=0)

    def _agreement(self, scope: _Scope) -> LockstepHub:
        group = self.group()
        with self._changed:
            if scope not in self._agreements:
                agreement = LockstepHub(LockstepCount(group.ranks, scope.policy))
                for earlier, ranks in self._left.items():
                    for rank in ranks if scope.is_after(earlier) else ():
                        agreement.leave(rank, used=0)
                self._agreements[scope] = agreement
            return self._agreements[scope]


class LockstepMember:
    """Asks for one batch after the other; for one thread.

    Args:
        rank: This node.
        policy: What is done where some nodes get more rows.
        groups: Knows the others.
        epoch: Which epoch's batches are counted; None: those of the whole feed.
    """

    def __init__(self, rank: int, policy: Uneven, groups: LockstepGroups, epoch: int | None = None) -> None:
        self.policy = policy
        self.epoch = epoch
        self.used = 0
        self._rank = rank
        self._groups = groups
        self._known = 0
        self._is_over = False

    def in_epoch(self, epoch: int) -> LockstepMember:
        """Returns this node's part in an epoch, which is this one while that epoch goes on."""
        if epoch == self.epoch:
            return self
        return LockstepMember(self._rank, self.policy, self._groups, epoch)

    def begin_again(self) -> None:
        """Goes back to the first batch; those that it has had are known, so that the others do not hear of it."""
        self.used = 0

    def is_known(self) -> bool:
        """Tells whether all can take the next batch, without asking."""
        return self.used < self._known

    def ask(self, have: int, *, final: bool, rows: int) -> Verdict:
        """Returns what is to become of the next batch.

        Args:
            have: How many batches this node has received in all.
            final: Whether it will receive no more.
            rows: How many rows it has received.

        Raises:
            NothingToRepeat: Some nodes got no row, and were to repeat theirs.
            NoWholeBatch: Some nodes got less than a batch, so that nobody can take one.
        """
        question = Ask(rank=self._rank, have=have, final=final, wanted=self.used + 1, rows=rows)
        message = {**question.to_json(), "policy": self.policy.value, "epoch": self.epoch}
        answer = ask_node(self._groups.group().hub, AGREE, message, timeout=4 * POLL_SECONDS)
        if answer is None:
            LOG.info("the node that keeps the counts has ended: no more batches")
            return Verdict(answer=Answer.END, known=self._known, total=self.used)
        for refusal in REFUSALS:
            if answer.get("refused") == refusal.__name__:
                raise refusal(*map(tuple, answer["fields"]))
        verdict = Verdict.from_json(answer)
        self._known = max(self._known, verdict.known)
        self._is_over = verdict.answer is Answer.END
        return verdict

    def finish(self) -> None:
        """Leaves, unless all nodes end after the same batch anyway, or none was fed."""
        if not self._is_over and self._groups.is_known:
            self.leave()

    def leave(self) -> None:
        """Tells the others that this node takes no more batches."""
        self._is_over = True
        message = {"rank": self._rank, "used": self.used, "policy": self.policy.value, "epoch": self.epoch}
        ask_node(self._groups.group().hub, LEAVE, message)
