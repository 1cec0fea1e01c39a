"""A node's part in training in step: it takes a batch when all nodes can take one."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hopyard.errors import NotFed
from hopyard.feed.remote import FeedNode, ask_node
from hopyard.feed.together import Agreement, Answer, Ask, Roll, Uneven, Verdict

LOG = logging.getLogger(__name__)
AGREE = "agree"
LEAVE = "leave"
POLL_SECONDS = 5.0
COMPANY_SECONDS = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Company:
    """The nodes that are fed together.

    Attributes:
        hub: The one that keeps the counts.
        ranks: All of them.
    """

    hub: FeedNode
    ranks: tuple[int, ...]


class Round:
    """Knows the company once the driver has told, and keeps its counts if this node is the hub."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._company: Company | None = None
        self._agreements: dict[Uneven, Agreement] = {}

    def meet(self, company: Company) -> None:
        """Takes note of who is fed."""
        with self._changed:
            self._company = company
            self._changed.notify_all()

    def company(self, seconds: float = COMPANY_SECONDS) -> Company:
        """Returns who is fed, once that is known.

        Raises:
            NotFed: The driver has not told for so many seconds.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: self._company is not None, seconds):
                raise NotFed("training in step", f"nobody was fed for {seconds:g} s")
            assert self._company is not None
            return self._company

    def agree(self, message: Mapping[str, Any]) -> Verdict:
        """Answers a node that wants a batch."""
        ask = Ask.from_json(message)
        agreement = self._agreement(Uneven(message["policy"]))
        return agreement.agree(
            ask.rank, have=ask.have, final=ask.final, wanted=ask.wanted, timeout=POLL_SECONDS
        )

    def leave(self, message: Mapping[str, Any]) -> None:
        """Takes note that a node has stopped by itself."""
        self._agreement(Uneven(message["policy"])).leave(message["rank"], used=message["used"])

    def _agreement(self, policy: Uneven) -> Agreement:
        company = self.company()
        with self._changed:
            if policy not in self._agreements:
                self._agreements[policy] = Agreement(Roll(company.ranks, policy))
            return self._agreements[policy]


class InStep:
    """Asks for one batch after the other; for one thread."""

    def __init__(self, rank: int, policy: Uneven, round_: Round) -> None:
        self.policy = policy
        self.used = 0
        self._rank = rank
        self._round = round_
        self._known = 0

    def is_known(self) -> bool:
        """Tells whether all can take the next batch, without asking."""
        return self.used < self._known

    def ask(self, have: int, *, final: bool) -> Verdict:
        """Returns what is to become of the next batch.

        Args:
            have: How many batches this node has received in all.
            final: Whether it will receive no more.
        """
        question = Ask(rank=self._rank, have=have, final=final, wanted=self.used + 1)
        message = {**question.to_json(), "policy": self.policy.value}
        answer = ask_node(self._round.company().hub, AGREE, message, timeout=4 * POLL_SECONDS)
        if answer is None:
            LOG.info("the node that keeps the counts has ended: no more batches")
            return Verdict(answer=Answer.END, known=self._known, total=self.used)
        verdict = Verdict.from_json(answer)
        self._known = max(self._known, verdict.known)
        return verdict

    def leave(self) -> None:
        """Tells the others that this node takes no more batches."""
        message = {"rank": self._rank, "used": self.used, "policy": self.policy.value}
        ask_node(self._round.company().hub, LEAVE, message)
