from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from hopyard.search.samplers.evolution_schedule import AtOnce, InGenerations, Move, Turn, Turns

pytestmark = pytest.mark.unit

SIZE = 5


@dataclass(frozen=True)
class Played:
    """A move, and whether it is over."""

    move: Move
    is_over: bool = True


def finished(place: int, generation: int = 0) -> Played:
    return Played(Move(place=place, generation=generation, vector=(), value=1.0))


def failed(place: int, generation: int = 0) -> Played:
    return Played(Move(place=place, generation=generation, vector=()))


def under_way(place: int, generation: int = 0) -> Played:
    return Played(Move(place=place, generation=generation, vector=()), is_over=False)


def next_at_once(played: Sequence[Played], size: int) -> Turn:
    return play(AtOnce(size), played)


def next_in_generation(played: Sequence[Played], size: int) -> Turn:
    return play(InGenerations(size), played)


def play(turns: Turns, played: Sequence[Played]) -> Turn:
    for each in played:
        if each.is_over:
            turns.note(each.move)
    return turns.next([each.move for each in played if not each.is_over])


FOUNDERS = [finished(place) for place in range(SIZE)]


def test_without_waiting_places_are_filled_first() -> None:
    assert next_at_once([], SIZE) == Turn(place=0, generation=0)
    assert next_at_once([under_way(0), finished(1)], SIZE) == Turn(place=2, generation=0)


def test_without_waiting_a_founder_that_failed_is_replaced_after_the_others_were_tried() -> None:
    moves = [failed(0), *FOUNDERS[1:3]]
    assert next_at_once(moves, SIZE).place == 3
    assert next_at_once([*moves, *FOUNDERS[3:]], SIZE) == Turn(place=0, generation=1)


def test_without_waiting_places_take_turns() -> None:
    moves = list(FOUNDERS)
    for place in (0, 1, 2, 3, 4, 0):
        turn = next_at_once(moves, SIZE)
        assert turn.place == place
        moves.append(finished(place, turn.generation))


def test_without_waiting_a_place_with_a_trial_under_way_is_passed_over() -> None:
    assert next_at_once([*FOUNDERS, under_way(0, 1), failed(1, 1)], SIZE).place == 2
    assert next_at_once([*FOUNDERS[1:], under_way(0)], SIZE).place == 1


def test_without_waiting_there_is_a_turn_even_if_all_places_are_busy() -> None:
    moves = [*FOUNDERS, *(under_way(place, 1) for place in range(SIZE))]
    assert next_at_once(moves, SIZE) == Turn(place=0, generation=2)


def test_a_generation_waits_for_its_last_trial() -> None:
    moves = [*FOUNDERS[:4], under_way(4)]
    assert not next_in_generation(moves, SIZE).is_due
    assert next_in_generation([*moves[:4], finished(4)], SIZE) == Turn(place=0, generation=1)


def test_the_first_generation_replaces_a_founder_that_failed() -> None:
    assert next_in_generation([*FOUNDERS[:4], failed(4)], SIZE) == Turn(place=4, generation=0)


def test_a_later_generation_does_without_a_candidate_that_failed() -> None:
    moves = [*FOUNDERS, *(failed(place, 1) for place in range(SIZE))]
    assert next_in_generation(moves, SIZE) == Turn(place=0, generation=2)


def test_a_trial_that_cannot_wait_stands_in_for_one_under_way() -> None:
    assert next_in_generation([*FOUNDERS[:4], under_way(4)], SIZE) == Turn(
        place=4, generation=0, is_due=False
    )
