"""Whose turn it is in an evolution: the place that the next trial is a candidate for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from hopyard.search.evolution import FEWEST_MEMBERS


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A trial's part in an evolution.

    Attributes:
        place: The place in the population that it is a candidate for.
        generation: How many moves for this place, or generations, went before.
        vector: What it tries.
        is_over: Whether the trial has ended.
        value: What came of it; the smaller the better. None if nothing did: it is under way, or has failed.
    """

    place: int
    generation: int
    vector: tuple[float, ...]
    is_over: bool = False
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


def next_at_once(moves: Sequence[Move], size: int) -> Turn:
    """Returns the next turn if nobody waits: first of places that nobody holds, then of all in turn.

    A place with a trial under way is passed over while there are others.

    Args:
        moves: All moves so far.
        size: How many places there are.
    """
    tried = Counter(move.place for move in moves)
    busy = Counter(move.place for move in moves if not move.is_over)
    held = {move.place for move in moves if move.value is not None}
    vacant = [place for place in range(size) if place not in held and not busy[place]]
    can_mutate = len(held) >= FEWEST_MEMBERS
    places = vacant or (held if can_mutate else range(size))
    place = min(places, key=lambda place: (busy[place], tried[place], place))
    return Turn(place=place, generation=tried[place])


def next_in_generation(moves: Sequence[Move], size: int) -> Turn:
    """Returns the next turn if each generation waits for the one before to be complete.

    The first generation is complete when each place is held: a founder that failed is replaced. A later one is
    complete when each place has had its candidate, whatever came of it.

    Args:
        moves: All moves so far.
        size: How many places there are.
    """
    generation = 0
    while True:
        now = [move for move in moves if move.generation == generation]
        done = {move.place for move in now if move.value is not None or (generation and move.is_over)}
        if len(done) < size:
            break
        generation += 1
    given = done | {move.place for move in now if not move.is_over}
    free = [place for place in range(size) if place not in given]
    # A trial that is asked for all the same stands in for one that may never end, of a driver that died, say.
    awaited = [place for place in range(size) if place not in done]
    return Turn(place=(free or awaited)[0], generation=generation, is_due=bool(free))
