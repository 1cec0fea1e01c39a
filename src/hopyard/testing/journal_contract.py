"""What a journal promises on every store; subclass it with a fixture ``project``."""

# ruff: noqa: D102  the names of the tests are sentences

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from hopyard.errors import JournalTaken
from hopyard.store import Journal, Project, read_journal

PATH = "Logs/study.log"
MANY = 6


def gone(path: str, owner: bytes) -> bool:  # noqa: ARG001
    """Says of every writer that it is gone."""
    return True


def open_at_once(project: Project) -> list[Journal]:
    """Returns the journals that several writers got who came at the same moment; they take an earlier one for gone."""
    barrier = Barrier(MANY, timeout=60)

    def open_one(number: int) -> Journal | None:
        barrier.wait()
        try:
            return Journal(project, PATH, owner=b"writer %d" % number, is_left=_first)
        except JournalTaken:
            return None

    with ThreadPoolExecutor(MANY) as threads:
        return [journal for journal in threads.map(open_one, range(MANY)) if journal is not None]


def _first(path: str, owner: bytes) -> bool:  # noqa: ARG001
    return owner == b"first"


class JournalContract:
    """Of a journal on any store."""

    def test_a_second_writer_is_refused_until_the_first_has_closed(self, project: Project) -> None:
        for _ in range(3):
            with Journal(project, PATH, owner=b"first") as journal:
                with pytest.raises(JournalTaken, match=r"study\.log"):
                    Journal(project, PATH, owner=b"second")
                journal.append(b"line")
        assert list(read_journal(project, PATH)) == [b"line"] * 3

    def test_of_writers_that_come_at_once_one_writes(self, project: Project) -> None:
        (journal,) = open_at_once(project)
        journal.close()
        Journal(project, PATH).close()


class StoreJournalContract(JournalContract):
    """Of a journal on a store without locks, where the owner's word takes their place."""

    def test_the_writer_that_was_found_is_told(self, project: Project) -> None:
        with (
            Journal(project, PATH, owner=b"first"),
            pytest.raises(JournalTaken) as caught,
        ):
            Journal(project, PATH, owner=b"second")
        assert caught.value.owner == "first"

    def test_a_writer_that_is_gone_is_followed_by_one_of_those_who_find_that_out(
        self, project: Project
    ) -> None:
        left = Journal(project, PATH, owner=b"first")
        left.append(b"of the first")
        left.commit()
        (journal,) = open_at_once(project)
        with journal:
            journal.append(b"of its successor")
        assert list(read_journal(project, PATH)) == [b"of the first", b"of its successor"]

    def test_a_writer_that_comes_back_from_the_dead_sets_nobody_free(self, project: Project) -> None:
        left = Journal(project, PATH, owner=b"first")
        with Journal(project, PATH, owner=b"second", is_left=gone):
            left.close()
            with pytest.raises(JournalTaken):
                Journal(project, PATH, owner=b"third", is_left=_first)
