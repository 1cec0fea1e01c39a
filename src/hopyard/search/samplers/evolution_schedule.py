"""Whose turn it is in an evolution: the place that the next trial is a candidate for."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from hopyard.search.samplers.evolution import FEWEST_MEMBERS


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A trial's part in an evolution.

    Attributes:
        place: The place in the population that it is a candidate for.
        generation: How many moves for this place, or generations, went before.
        vector: What it tries.
        value: What came of it; the smaller the better. None if nothing did: it is under way, or has failed.
    """

    place: int
    generation: int
    vector: tuple[float, ...]
    value: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What the next trial is for.

    Attributes:
        place: The place that it is a candidate for.
        generation: How many moves for this place, or generations, went before.
        is_due: Whether it is time for it; if not, some trial had better end first.
    """

    place: int
    generation: int
    is_due: bool = True


class Turns(Protocol):
    """Says whose turn it is; what is over is taken note of once, so that each turn costs the same."""

    def note(self, move: Move) -> None:
        """Takes a move that is over."""

    def next(self, under_way: Sequence[Move]) -> Turn:
        """Returns the next turn.

        Args:
            under_way: The moves that are not over.
        """

    def has_tried(self, place: int) -> bool:
        """Returns whether a move for a place is over."""


class AtOnce:
    """Turns if nobody waits: first of places that nobody holds, then of all in turn.

    A place with a trial under way is passed over while there are others.

    Args:
        size: How many places there are.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._tried: Counter[int] = Counter()
        self._held: set[int] = set()

    def note(self, move: Move) -> None:
        """Takes a move that is over."""
        self._tried[move.place] += 1
        if move.value is not None:
            self._held.add(move.place)

    def next(self, under_way: Sequence[Move]) -> Turn:
        """Returns the next turn."""
        busy = Counter(move.place for move in under_way)
        vacant = [place for place in range(self._size) if place not in self._held and not busy[place]]
        can_mutate = len(self._held) >= FEWEST_MEMBERS
        places = vacant or (self._held if can_mutate else range(self._size))
        place = min(places, key=lambda place: (busy[place], self._tried[place] + busy[place], place))
        return Turn(place=place, generation=self._tried[place] + busy[place])

    def has_tried(self, place: int) -> bool:
        """Returns whether a move for a place is over."""
        return place in self._tried


class InGenerations:
    """Turns if each generation waits for the one before to be complete.

    The first generation is complete when each place is held: a founder that failed is replaced. A later one is
    complete when each place has had its candidate, whatever came of it.

    Args:
        size: How many places there are.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._generation = 0
        self._done: defaultdict[int, set[int]] = defaultdict(set)  # places, by generation
        self._tried: set[int] = set()

    def note(self, move: Move) -> None:
        """Takes a move that is over."""
        self._tried.add(move.place)
        if move.value is not None or move.generation:
            self._done[move.generation].add(move.place)
        while len(self._done[self._generation]) == self._size:
            del self._done[self._generation]
            self._generation += 1

    def next(self, under_way: Sequence[Move]) -> Turn:
        """Returns the next turn."""
        done = self._done[self._generation]
        given = done | {move.place for move in under_way if move.generation == self._generation}
        free = [place for place in range(self._size) if place not in given]
        # A trial that is asked for all the same stands in for one that may never end, of a driver that died, say.
        awaited = [place for place in range(self._size) if place not in done]
        return Turn(place=(free or awaited)[0], generation=self._generation, is_due=bool(free))

    def has_tried(self, place: int) -> bool:
        """Returns whether a move for a place is over."""
        return place in self._tried
