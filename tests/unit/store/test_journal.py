from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from hopyard.errors import JournalTaken
from hopyard.store import Journal, Project, read_journal
from hopyard.testing.journal_contract import JournalContract, StoreJournalContract

pytestmark = pytest.mark.unit

PATH = "Logs/study.log"


@pytest.fixture(params=["file", "memory"])
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Project:
    root = str(tmp_path) if request.param == "file" else f"memory://journal-{os.urandom(4).hex()}"
    return Project.open(root, "p")


def lines(project: Project) -> list[bytes]:
    return list(read_journal(project, PATH))


def test_a_journal_that_does_not_exist_has_no_lines(project: Project) -> None:
    assert lines(project) == []


def test_committed_lines_are_there_in_order(project: Project) -> None:
    with Journal(project, PATH) as journal:
        journal.append(b"one")
        journal.append(b"two")
        journal.commit()
        assert lines(project) == [b"one", b"two"]
        journal.append(b"three")
        assert lines(project) == [b"one", b"two"]
    assert lines(project) == [b"one", b"two", b"three"]


def test_a_later_writer_goes_on_where_the_first_one_stopped(project: Project) -> None:
    for line in (b"one", b"two"):
        with Journal(project, PATH) as journal:
            journal.append(line)
    assert lines(project) == [b"one", b"two"]


def test_threads_lose_no_line(project: Project) -> None:
    with Journal(project, PATH) as journal:

        def write(number: int) -> None:
            for count in range(100):
                journal.append(b"%d %d" % (number, count))
                journal.commit()

        threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(lines(project)) == sorted(b"%d %d" % (n, c) for n in range(4) for c in range(100))


def test_on_a_file_system_a_second_writer_is_refused(tmp_path: Path) -> None:
    project = Project.open(str(tmp_path), "p")
    with Journal(project, PATH), pytest.raises(JournalTaken, match=r"study\.log"):
        Journal(project, PATH)
    Journal(project, PATH).close()


class TestOnAFileSystem(JournalContract):
    @pytest.fixture
    def project(self, tmp_path: Path) -> Project:
        return Project.open(str(tmp_path), "p")


class TestOnAStoreWithoutLocks(StoreJournalContract):
    @pytest.fixture
    def project(self) -> Project:
        return Project.open(f"memory://journal-{os.urandom(4).hex()}", "p")


def test_a_writer_that_was_killed_holds_up_nobody_and_its_half_line_is_dropped(tmp_path: Path) -> None:
    program = (
        "import os, sys\n"
        "from hopyard.store import Journal, Project\n"
        f"journal = Journal(Project.open({str(tmp_path)!r}, 'p'), {PATH!r})\n"
        "journal.append(b'whole'); journal.commit()\n"
        "os.write(journal._file._descriptor, b'half a li')\n"
        "print('written', flush=True); sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"written\n"
        project = Project.open(str(tmp_path), "p")
        assert lines(project) == [b"whole"]
        writer.send_signal(signal.SIGKILL)
    with Journal(project, PATH) as journal:
        journal.append(b"next")
    assert lines(project) == [b"whole", b"next"]


def test_what_a_full_disk_did_not_take_is_written_when_there_is_room(tmp_path: Path) -> None:
    project = Project.open(str(tmp_path), "p")
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        with Journal(project, PATH) as journal:
            resource.setrlimit(resource.RLIMIT_FSIZE, (6, usual[1]))
            journal.append(b"one")
            journal.append(b"two")
            with pytest.raises(OSError, match="too large"):
                journal.commit()
            assert lines(project) == [b"one"]
            resource.setrlimit(resource.RLIMIT_FSIZE, usual)
            journal.append(b"three")
        assert lines(project) == [b"one", b"two", b"three"]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
        signal.signal(signal.SIGXFSZ, ignored)
