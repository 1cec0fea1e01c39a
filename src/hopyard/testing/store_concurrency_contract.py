"""The part of the store contract on several threads and processes at once, and on killed ones."""

# ruff: noqa: D102  the names of the tests are sentences

from __future__ import annotations

import contextlib
import fcntl
import multiprocessing
import pickle
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hopyard.errors import AlreadyExists
from hopyard.store import Project

_WAIT_SECONDS = 60.0
_RACED_PATHS = tuple(f"race/{number}" for number in range(5))
_FILE_BYTES = 300_000
_RUN_PICKLE = "import pickle, sys; function, arguments = pickle.load(sys.stdin.buffer); function(*arguments)"


class ConcurrencyContract:
    """Tests for a fixture `project`: a new, empty project.

    Attributes:
        is_shared: Other processes see the same files.
        races: For how many files threads race.
        replacements: How often a file is replaced under the eyes of a reader.
        kills: How many writers are killed.
        longest_write: Seconds that a writer has at most until it is killed.
    """

    is_shared = True
    races = 100
    replacements = 20
    kills = 3
    longest_write = 0.02

    def test_exactly_one_of_many_concurrent_threads_creates_each_file(self, project: Project) -> None:
        threads = range(8)
        paths = [f"race/{number}" for number in range(self.races)]
        start = threading.Barrier(len(threads))
        with ThreadPoolExecutor(len(threads)) as pool:
            won = list(pool.map(lambda thread: _created_at_once(project, paths, thread, start), threads))
        assert sorted(path for wins in won for path in wins) == sorted(paths)
        owners = {path: thread for thread, wins in zip(threads, won, strict=True) for path in wins}
        assert {path: int(project.read(path)) for path in paths} == owners

    def test_exactly_one_of_many_concurrent_processes_creates_each_file(self, project: Project) -> None:
        if not self.is_shared:
            pytest.skip("other processes do not see this store")
        racers = [_start(_report_created, project, number) for number in range(3)]
        reports = [racer.communicate(timeout=_WAIT_SECONDS)[0].decode().split() for racer in racers]
        owners = {path: number for number, paths in enumerate(reports) for path in paths}
        assert sum(map(len, reports)) == len(owners) == len(_RACED_PATHS)
        assert {path: int(project.read(path)) for path in _RACED_PATHS} == owners

    def test_reader_never_sees_a_part_of_a_replaced_file(self, project: Project) -> None:
        contents = [bytes([number]) * (200_000 + 1000 * number) for number in range(self.replacements)]
        project.put("file", contents[0])
        done = threading.Event()
        with ThreadPoolExecutor(1) as reader:
            seen = reader.submit(_read_until, project, done)
            try:
                for content in contents[1:]:
                    project.put("file", content)
            finally:
                done.set()
            assert seen.result() <= set(contents)

    def test_follower_sees_new_files_of_another_connection_at_once(self, project: Project) -> None:
        other = pickle.loads(pickle.dumps(project))  # noqa: S301  our own pickle
        project.put("folder/1", b"")
        for number in range(2, 5):
            names = [entry.name for entry in other.list("folder")]
            assert names == [str(earlier) for earlier in range(1, number)]
            project.put(f"folder/{number}", b"")
        assert not other.exists("folder/5")
        project.put("folder/5", b"five")
        assert other.info("folder/5").size == 4

    def test_forked_child_and_its_parent_both_go_on(self, project: Project) -> None:
        if not self.is_shared:
            pytest.skip("other processes do not see this store")
        project.put("parent", b"before")
        child = multiprocessing.get_context("fork").Process(target=_put_as_child, args=(project,))
        child.start()
        child.join(_WAIT_SECONDS)
        exit_code = child.exitcode
        child.kill()
        assert exit_code == 0
        assert project.read("child") == b"before"
        project.put("parent", b"after")
        assert project.read("parent") == b"after"

    def test_killed_writer_leaves_only_whole_files(self, project: Project) -> None:
        if not self.is_shared:
            pytest.skip("other processes do not see this store")
        moments = random.Random(7)  # noqa: S311  not for secrets
        for number in range(self.kills):
            folder = f"killed/{number}"
            with _start(_write_for_ever, project, folder) as writer:
                assert writer.stdout is not None
                assert writer.stdout.readline() == b"wrote one\n"
                # Not a wait for something: the end is to come at any moment of a write.
                with contextlib.suppress(subprocess.TimeoutExpired):
                    writer.wait(moments.uniform(0.0, self.longest_write))
                writer.kill()
            assert writer.returncode == -signal.SIGKILL
            for entry in project.list(folder):
                assert entry.size == _FILE_BYTES
                assert len(set(project.read(entry.path))) == 1

    # --- what only some stores can do ---

    def test_file_grows_under_the_eyes_of_a_reader_where_the_store_can_append(self, project: Project) -> None:
        if not project.capabilities.can_append:
            pytest.skip("this store does not say that it can append")
        project.put("folder/file", b"first")
        for number in range(3):
            with _start(_append, project, "folder/file", str(number).encode()) as writer:
                assert writer.wait(_WAIT_SECONDS) == 0
            assert project.read("folder/file") == b"first" + b"012"[: number + 1]
        assert project.info("folder/file").size == len(b"first012")

    def test_lock_keeps_other_processes_out_until_its_holder_is_dead(self, project: Project) -> None:
        if not project.capabilities.can_lock:
            pytest.skip("this store does not say that it can lock")
        project.put("folder/file", b"")
        with _start(_lock_for_ever, project, "folder/file") as holder:
            assert holder.stdout is not None
            assert holder.stdout.readline() == b"locked\n"
            with _start(_lock_for_ever, project, "folder/file") as other:
                assert other.communicate(timeout=_WAIT_SECONDS)[0] == b"taken\n"
            holder.kill()
        with _start(_lock_for_ever, project, "folder/file") as heir:
            assert heir.stdout is not None
            assert heir.stdout.readline() == b"locked\n"
            heir.kill()

    def test_store_that_says_it_is_near_asks_no_server(self, project: Project) -> None:
        servers = project._files().servers()  # noqa: SLF001  no user of a project needs them
        assert project.is_near == (not servers)


def _created_at_once(
    project: Project, paths: Sequence[str], thread: int, start: threading.Barrier
) -> list[str]:
    """Returns the paths for which this thread came first; all threads try each path at the same moment."""
    won = []
    for path in paths:
        start.wait(_WAIT_SECONDS)
        with contextlib.suppress(AlreadyExists):  # another thread came first
            project.create(path, str(thread).encode())
            won.append(path)
    return won


def _start(function: Callable[..., None], *arguments: object) -> subprocess.Popen[bytes]:
    """Runs a function of this module in a new process."""
    process = subprocess.Popen(
        [sys.executable, "-c", _RUN_PICKLE], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    pickle.dump((function, arguments), process.stdin)
    process.stdin.flush()
    return process


def _report_created(project: Project, number: int) -> None:
    for path in _RACED_PATHS:
        with contextlib.suppress(AlreadyExists):  # another process came first
            project.create(path, str(number).encode())
            sys.stdout.write(f"{path}\n")


def _read_until(project: Project, done: threading.Event) -> set[bytes]:
    seen = set()
    while not done.is_set():
        seen.add(project.read("file"))
    return seen


def _append(project: Project, path: str, data: bytes) -> None:
    with open(_on_disk(project, path), "ab", buffering=0) as file:
        file.write(data)


def _lock_for_ever(project: Project, path: str) -> None:
    with open(_on_disk(project, path), "rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.stdout.write("taken\n")
            return
        sys.stdout.write("locked\n")
        sys.stdout.flush()
        signal.pause()


def _on_disk(project: Project, path: str) -> Path:
    local = project.local_path(path)
    assert local is not None, "a store that can append or lock has paths"
    return local


def _put_as_child(project: Project) -> None:
    project.put("child", project.read("parent"))


def _write_for_ever(project: Project, folder: str) -> None:
    number = 0
    while True:
        content = bytes([number % 256]) * _FILE_BYTES
        project.put(f"{folder}/00000", content)
        project.create(f"{folder}/{number + 1:05d}", content)
        sys.stdout.write("wrote one\n")
        sys.stdout.flush()
        number += 1
