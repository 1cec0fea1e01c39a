from __future__ import annotations

import pytest

from hopyard.control.membership import LEAST_QUIET_SECONDS, SUSPICION, Admission, Membership

pytestmark = pytest.mark.unit

LEASE = 10.0


class Members:
    """A membership, and the time of a driver that looks at the clock every second."""

    def __init__(self, lease: float = LEASE, size: int = 1) -> None:
        self.membership = Membership(lease, size=size)
        self.now = 0.0

    def arrive(self, number: int = 0, incarnation: str = "first") -> Admission:
        return self.membership.arrive(number, incarnation, self.now)

    def pass_time(self, seconds: float, *heard: int) -> dict[int, str]:
        until = self.now + seconds
        while self.now < until:
            self.now = min(until, self.now + 1)
            for number in heard:
                self.membership.hear(number, "first", self.now)
            silent = self.membership.silent(self.now)
        return silent


def test_a_process_comes_once_and_may_say_so_again() -> None:
    members = Members()
    assert members.arrive() is Admission.NEW
    assert members.arrive() is Admission.AGAIN
    assert members.membership.present == {0}


def test_a_second_process_is_let_in_when_the_first_has_fallen_silent() -> None:
    members = Members()
    members.arrive()
    members.pass_time(LEAST_QUIET_SECONDS)
    assert members.arrive(incarnation="second") is Admission.SECOND
    members.pass_time(1)
    assert members.arrive(incarnation="second") is Admission.SUCCESSOR
    assert members.membership.is_here(0, "second")


def test_a_process_whose_place_is_taken_does_not_come_back() -> None:
    members = Members()
    members.arrive()
    members.pass_time(LEAST_QUIET_SECONDS + 1)
    members.arrive(incarnation="second")
    assert members.arrive() is Admission.REPLACED
    assert members.membership.is_replaced(0, "first")
    assert not members.membership.is_replaced(1, "first")


def test_the_word_of_another_process_is_no_sign_of_life_of_the_first() -> None:
    members = Members()
    members.arrive()
    members.pass_time(LEASE)
    assert not members.membership.hear(0, "second", members.now)
    assert members.pass_time(1) == {0: "first"}


def test_who_is_silent_for_longer_than_the_lease_counts_as_lost() -> None:
    members = Members()
    members.arrive(0), members.arrive(1)
    assert members.pass_time(LEASE, 1) == {}
    assert members.pass_time(1, 1) == {0: "first"}


def test_who_has_left_is_not_missed() -> None:
    members = Members()
    members.arrive()
    members.membership.leave(0, "first")
    assert members.pass_time(LEASE + 1) == {}


def test_under_suspicion_silence_counts_within_seconds_and_not_for_ever() -> None:
    members = Members()
    members.arrive()
    members.membership.suspect(members.now)
    assert members.pass_time(LEAST_QUIET_SECONDS) == {}
    assert members.pass_time(1) == {0: "first"}
    members.pass_time(SUSPICION * LEAST_QUIET_SECONDS, 0)
    assert members.pass_time(LEAST_QUIET_SECONDS + 1) == {}


def test_a_driver_that_was_held_up_takes_that_for_nobodys_silence() -> None:
    members = Members()
    members.arrive()
    members.now += 600
    assert members.membership.silent(members.now) == {}
    assert members.membership.asleep == 600
    assert members.pass_time(LEASE + 1) == {0: "first"}


def test_a_second_process_is_no_successor_because_the_driver_was_held_up() -> None:
    members = Members()
    members.arrive()
    members.pass_time(1, 0)
    members.now += 600
    assert members.arrive(incarnation="second") is Admission.SECOND


@pytest.mark.parametrize(("size", "poll", "beat"), [(1, 0.02, 0.2), (100, 0.2, 0.2), (1000, 2.0, 1.0)])
def test_many_call_less_often(size: int, poll: float, beat: float) -> None:
    membership = Membership(LEASE, size=size)
    assert (membership.poll_seconds, membership.beat_seconds) == (poll, beat)
