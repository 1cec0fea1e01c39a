"""Locks on ranges of a file belong to who opened it."""

from __future__ import annotations

import os

import pytest

from hopyard.worker.gpus.lock import lock_any_range, lock_range, unlock

pytestmark = pytest.mark.unit


@pytest.fixture
def open_file(tmp_path):
    opened = []

    def open_again() -> int:
        opened.append(os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT))
        return opened[-1]

    yield open_again
    for fd in opened:
        os.close(fd)


def test_two_opens_in_one_process_exclude_each_other(open_file):
    assert lock_range(open_file(), 0, 10)
    assert not lock_range(open_file(), 9, 1)


def test_ranges_beside_each_other_are_free(open_file):
    assert lock_range(open_file(), 0, 10)
    assert lock_range(open_file(), 10, 10)


def test_lock_is_kept_when_another_open_of_the_file_is_closed(open_file, tmp_path):
    assert lock_range(open_file(), 0, 10)
    os.close(os.open(tmp_path / "file", os.O_RDWR))
    assert not lock_range(open_file(), 0, 10)


def test_lock_of_ones_own_can_be_widened(open_file):
    fd = open_file()
    assert lock_range(fd, 0, 10)
    assert lock_range(fd, 0, 100)


def test_first_gap_that_is_wide_enough_is_taken(open_file):
    assert lock_range(open_file(), 0, 10)
    assert lock_range(open_file(), 15, 10)
    assert lock_any_range(open_file(), 6, limit=100)
    assert not lock_range(open_file(), 30, 1)
    assert lock_range(open_file(), 10, 5)


def test_no_range_is_taken_beyond_the_limit(open_file):
    assert lock_range(open_file(), 0, 95)
    assert not lock_any_range(open_file(), 6, limit=100)
    assert lock_any_range(open_file(), 5, limit=100)


def test_unlocked_range_is_free(open_file):
    fd = open_file()
    assert lock_range(fd, 5, 10)
    unlock(fd)
    assert lock_range(open_file(), 0, 100)
