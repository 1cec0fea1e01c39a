"""Nodes that train in step: no node takes a batch before it is known that all of them take one.

Rank 0 keeps the counts in a `LockstepCount`. A node asks it only for a batch beyond those that it knows about, and
only when that batch has arrived or no more rows will come. So an answer never waits for the node that
asked, and as nodes train in step, all others come to ask as well. Batches are counted from 1 on, through
all epochs and calls of `train`.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Self

from hopyard.codec.json_value import Json
from hopyard.errors import InvalidMessage, NothingToRepeat, NotInStep, NoWholeBatch


class Uneven(Enum):
    """What is done where some nodes got more rows than others."""

    DROP = "drop"
    """All end after the smallest number of whole batches; rows beyond are dropped."""
    PAD = "pad"
    """All end after the largest number of batches; a node that has fewer repeats rows of its own."""
    STOP = "stop"
    """All end when the first node has used up its whole batches, and the rest is not even fed."""


class Answer(Enum):
    """What a node that wants a batch is to do."""

    GO = "go"
    WAIT = "wait"
    END = "end"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """The question of a node for a batch.

    Attributes:
        rank: Who asks.
        have: How many batches it has received so far, in total: whole ones, and at the end of a feed that
            is padded also the last, shorter one.
        final: Whether it will receive no more.
        wanted: Number of the batch that it wants to take.
        rows: How many rows it has received so far.
    """

    rank: int
    have: int
    final: bool
    wanted: int
    rows: int = 0

    def to_json(self) -> dict[str, Json]:
        """Returns the question as a JSON object."""
        return {
            "rank": self.rank,
            "have": self.have,
            "final": self.final,
            "wanted": self.wanted,
            "rows": self.rows,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> Self:
        """Returns the question that `to_json` wrote.

        Raises:
            InvalidMessage: The object lacks a field or has one of another type.
        """
        match value:
            case {
                "rank": int(rank),
                "have": int(have),
                "final": bool(final),
                "wanted": int(wanted),
                "rows": int(rows),
            }:
                return cls(rank=rank, have=have, final=final, wanted=wanted, rows=rows)
        raise InvalidMessage("ask for a batch", f"it has the fields {sorted(value)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The answer to a node that wants a batch.

    Attributes:
        answer: GO: take it. WAIT: ask again. END: there is no such batch for anybody.
        known: Up to which batch all nodes may go without asking again.
        total: With END, the number of batches that all nodes take.
        cancel_rest: Whether rows that are not fed yet shall not be.
        has_left: Whether it is because a node has stopped by itself.
    """

    answer: Answer
    known: int
    total: int | None = None
    cancel_rest: bool = False
    has_left: bool = False

    def to_json(self) -> dict[str, Json]:
        """Returns the verdict as a JSON object."""
        return {
            "answer": self.answer.value,
            "known": self.known,
            "total": self.total,
            "cancel_rest": self.cancel_rest,
            "has_left": self.has_left,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> Self:
        """Returns the verdict that `to_json` wrote.

        Raises:
            InvalidMessage: The object lacks a field or has one of another type.
        """
        match value:
            case {
                "answer": "go" | "wait" | "end" as answer,
                "known": int(known),
                "total": None | int() as total,
                "cancel_rest": bool(cancel_rest),
                "has_left": bool(has_left),
            }:
                return cls(
                    answer=Answer(answer),
                    known=known,
                    total=total,
                    cancel_rest=cancel_rest,
                    has_left=has_left,
                )
        raise InvalidMessage("answer for a batch", f"it has the fields {sorted(value)}")


@dataclass(slots=True)
class _Node:
    """What is known of a node."""

    have: int = 0
    rows: int = 0
    final: bool = False
    left: bool = False


class LockstepCount:
    """The batches of all nodes that train in step; not for several threads.

    A batch that one node was told to take is there for all: no later report and no leaving takes it back.

    Args:
        ranks: Who trains in step.
        policy: What is done where some have more than others.
    """

    def __init__(self, ranks: Sequence[int], policy: Uneven) -> None:
        self._nodes = {rank: _Node() for rank in ranks}
        self._policy = policy
        self._granted = 0
        self._cap: int | None = None

    def report(self, rank: int, *, have: int, final: bool, rows: int = 0) -> None:
        """Records how many batches and rows a node has received; a report that comes late changes nothing.

        Raises:
            NotInStep: The node is none of those that are counted.
        """
        node = self._node(rank)
        if not node.final:
            node.have = max(node.have, have)
            node.rows = max(node.rows, rows)
            node.final = final

    def leave(self, rank: int, *, used: int) -> None:
        """Records that a node has stopped by itself: whatever the policy, the others end there too.

        They go on to the last batch that any of them was told to take. Whether they can, without the one
        that left, is a matter of their framework.

        Raises:
            NotInStep: The node is none of those that are counted.
        """
        self._node(rank).left = True
        last = max(used, self._granted)
        self._cap = last if self._cap is None else min(self._cap, last)

    def verdict(self, wanted: int) -> Verdict:
        """Returns what a node is to do that wants a batch.

        Raises:
            NothingToRepeat: Some nodes got no row, while others go on and these are to repeat rows.
            NoWholeBatch: Some nodes got less than a batch, so that nobody can take one.
        """
        known, total = self._reach()
        if known > 0 and self._policy is Uneven.PAD:
            self._check_all_can_pad()
        if wanted <= known:
            self._granted = max(self._granted, known)
            return Verdict(answer=Answer.GO, known=known)
        if total is None or (total == 0 and not self._is_empty()):
            return Verdict(answer=Answer.WAIT, known=known)
        return Verdict(
            answer=Answer.END,
            known=known,
            total=total,
            cancel_rest=self._has_rest_to_cancel(),
            has_left=self._cap is not None,
        )

    def _reach(self) -> tuple[int, int | None]:
        """Returns up to which batch all can go, and how many there are in all if that is certain."""
        staying = [node for node in self._nodes.values() if not node.left]
        receiving = [node.have for node in staying if not node.final]
        ends = [] if self._cap is None else [self._cap]
        if self._policy is not Uneven.PAD:
            ends += [node.have for node in staying if node.final]
        elif not receiving:
            ends.append(max(node.have for node in self._nodes.values()))
        known = min(receiving + ends)
        return known, known if known == min(ends, default=None) else None

    def _check_all_can_pad(self) -> None:
        empty = [rank for rank, node in self._nodes.items() if node.final and node.have == 0]
        if empty:
            raise NothingToRepeat(tuple(empty))

    def _is_empty(self) -> bool:
        """Tells whether there is no batch since nobody got any row, or since a node has stopped; else it is an error.

        That is known when a node has told of rows, or all have told that they get none.
        """
        if self._cap is not None or self._policy is Uneven.PAD:
            return True
        if any(node.rows or node.have for node in self._nodes.values()):
            short = {rank: node.rows for rank, node in self._nodes.items() if node.final and not node.have}
            raise NoWholeBatch(tuple(short), tuple(short.values()))
        return all(node.final for node in self._nodes.values())

    def _has_rest_to_cancel(self) -> bool:
        return self._policy is Uneven.STOP and not all(node.final for node in self._nodes.values())

    def _node(self, rank: int) -> _Node:
        if rank not in self._nodes:
            raise NotInStep(rank, tuple(self._nodes))
        return self._nodes[rank]


class LockstepHub:
    """A `LockstepCount` that many threads ask, each on behalf of a node, and wait for."""

    def __init__(self, count: LockstepCount) -> None:
        self._count = count
        self._changed = threading.Condition()

    def agree(
        self, rank: int, *, have: int, final: bool, wanted: int, timeout: float, rows: int = 0
    ) -> Verdict:
        """Records what a node has and returns what it is to do; the fields are those of `Ask`.

        Args:
            rank: Who asks.
            have: How many batches it has received.
            final: Whether it will receive no more.
            wanted: Number of the batch that it wants to take.
            timeout: After so many seconds the answer may be WAIT, and the node asks again.
            rows: How many rows it has received.

        Raises:
            NotInStep: The node is none of those that train in step.
            NothingToRepeat: Some nodes got no row, and were to repeat theirs.
            NoWholeBatch: Some nodes got less than a batch, so that nobody can take one.
        """
        with self._changed:
            self._count.report(rank, have=have, final=final, rows=rows)
            self._changed.notify_all()
            self._changed.wait_for(functools.partial(self._is_decided, wanted), timeout)
            return self._count.verdict(wanted)

    def leave(self, rank: int, *, used: int) -> None:
        """Records that a node has stopped by itself after some batches.

        Raises:
            NotInStep: The node is none of those that train in step.
        """
        with self._changed:
            self._count.leave(rank, used=used)
            self._changed.notify_all()

    def _is_decided(self, wanted: int) -> bool:
        return self._count.verdict(wanted).answer is not Answer.WAIT
