"""Kills writers at random moments while a reader looks on; fails if the reader ever saw an inconsistent past.

A program and not a test, so that it can fork: it holds no threads when it does. The tests of several lanes run it
against their stores, and anybody can run it for an hour:

    python tests/unit/tracking/kill_writers.py --root /tmp/soak --kills 10000

Each writer is a driver and a node in one process. It begins a run, then writes a book in each of several attempts, into
the node's log and metrics, closing each (which joins its segments, if there are any) before the next; some writers end
their run, all are killed.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import select
import signal
import time
from collections import defaultdict
from collections.abc import Iterator

import hopyard.store.local.disk  # noqa: F401  imported before the fork and not in each short life
from hopyard.store import Project
from hopyard.tracking import (
    MetricPoint,
    NodeWriter,
    RunId,
    RunReader,
    RunRecord,
    RunState,
    RunWriter,
    list_runs,
)
from hopyard.tracking.logs.node_log import LogCursor
from hopyard.tracking.paths import run_paths

BATCH = 3
BIRTH_SECONDS = 60.0
ORPHANED_AFTER_SECONDS = 60


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", required=True)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--writers", type=int, default=4)
    parser.add_argument("--longest-life", type=float, default=0.04, help="seconds")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(32))
    args = parser.parse_args()
    print(f"--seed {args.seed}", flush=True)
    project = Project(args.root, f"kills-{args.seed}")
    told, tell = os.pipe()
    killers = [start_killer(args, project, tell, number) for number in range(args.writers)]
    os.close(tell)
    witness = Witness(project)
    told_lines = watch(told, witness)
    for pid in killers:
        _, status = os.waitpid(pid, 0)
        assert status == 0, f"a killer ended with status {status}"
    witness.look(list_runs(project).runs)
    witness.compare(told_lines)
    print(f"{args.kills} kills, {witness.summary()}")


# --- writing and killing -------------------------------------------------------------------------------


def start_killer(args: argparse.Namespace, project: Project, tell: int, number: int) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        chance = random.Random(args.seed + number)
        for _ in range(number, args.kills, args.writers):
            kill_one(project, tell, chance, args.longest_life)
    except BaseException as error:  # noqa: BLE001  the edge of a forked process
        print(f"killer {number}: {error!r}", flush=True)
        os._exit(1)
    os._exit(0)


def kill_one(project: Project, tell: int, chance: random.Random, longest_life: float) -> None:
    seed, seconds, at_birth = chance.random(), chance.uniform(0, longest_life), chance.random() < 0.2
    born, bear = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            write_until_killed(project, tell, bear, random.Random(seed))
        except BaseException as error:  # noqa: BLE001  the edge of a forked process
            print(f"writer: {error!r}", flush=True)
        os._exit(1)
    # On a busy machine most writers would die before they have begun; a few are meant to.
    if not at_birth:
        assert select.select([born], [], [], BIRTH_SECONDS)[0], f"a writer did not begin in {BIRTH_SECONDS} s"
    time.sleep(seconds)
    os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    assert os.WIFSIGNALED(status), "a writer ended before it was killed"
    os.close(born)
    os.close(bear)


def write_until_killed(project: Project, tell: int, bear: int, chance: random.Random) -> None:
    run = RunWriter.begin(
        project,
        app_id="app",
        kind="launcher",
        name="",
        nodes=1,
        backend="",
        clock=itertools.count(1.0).__next__,
    )
    os.write(tell, f"{run.id} 0 0\n".encode())
    os.write(bear, b".")
    for book in range(chance.randrange(1, 8)):
        if book:
            run.restarted(book, f"book {book - 1} is full")
        write = write_leaflet if chance.random() < 0.3 else write_book
        write(NodeWriter(project, run.id, 0, attempt=book), run, book, chance, tell)
    run.finish(chance.choice([RunState.FINISHED, RunState.FAILED]))
    signal.alarm(ORPHANED_AFTER_SECONDS)
    signal.pause()


def write_book(node: NodeWriter, run: RunWriter, book: int, chance: random.Random, tell: int) -> None:
    with node:
        for batch in range(chance.randrange(1, 6)):
            write_batch(node, book, batch)
            node.flush()
            tell_stored(tell, run, book, batch)
            run.heartbeat()


def write_leaflet(node: NodeWriter, run: RunWriter, book: int, _: random.Random, tell: int) -> None:
    """Writes a book of one batch that is never flushed, so that closing writes it at once."""
    with node:
        write_batch(node, book, 0)
    tell_stored(tell, run, book, 0)


def write_batch(node: NodeWriter, book: int, batch: int) -> None:
    for line in range(batch * BATCH, (batch + 1) * BATCH):
        node.log(f"{book} {line}")
        node.metric(MetricPoint(name=f"book-{book}", step=line, value=0.5, time=0.0))


def tell_stored(tell: int, run: RunWriter, book: int, batch: int) -> None:
    # Shorter than PIPE_BUF, so lines of several writers do not mix.
    os.write(tell, f"{run.id} {book} {(batch + 1) * BATCH}\n".encode())


# --- looking on ----------------------------------------------------------------------------------------


def watch(told: int, witness: Witness) -> list[bytes]:
    """Looks at the newest runs again and again until the last writer is gone; returns what writers told."""
    os.set_blocking(told, False)
    pieces: list[bytes] = []
    while True:
        witness.look(list_runs(witness.project).runs[:8])
        try:
            piece = os.read(told, 1 << 20)
        except BlockingIOError:
            continue
        if not piece:
            return b"".join(pieces).splitlines()
        pieces.append(piece)


class Witness:
    """Remembers what it saw of each run and insists that the past does not change."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.looks = 0
        self.records: dict[RunId, RunRecord] = {}
        self.logs: dict[RunId, list[str]] = defaultdict(list)
        self.followed: dict[RunId, list[str]] = defaultdict(list)
        self.points: dict[RunId, list[str]] = defaultdict(list)
        self.cursors: dict[RunId, LogCursor] = {}

    def look(self, runs: tuple[RunRecord, ...]) -> None:
        for run in runs:
            self.looks += 1
            self._look_at_record(run)
            self._look_at_log(run.id)
            self._look_at_metrics(run.id)

    def compare(self, told_lines: list[bytes]) -> None:
        """Checks that all a writer knew to be stored is there, and nothing that it never wrote."""
        stored: dict[RunId, dict[int, int]] = defaultdict(dict)
        for line in told_lines:
            run_id, book, lines = line.decode().split()
            stored[RunId.parse(run_id)][int(book)] = int(lines)
        listing = list_runs(self.project)
        assert listing.corrupt == ()
        assert {run.id for run in listing.runs} >= stored.keys(), "a run is missing"
        for run_id, books in stored.items():
            for seen in (self.logs[run_id], self.followed[run_id], self.points[run_id]):
                check_complete(run_id, seen, books)

    def summary(self) -> str:
        lines = sum(map(len, self.logs.values()))
        return f"{len(self.records)} runs, {lines} lines, {self.looks} looks: no gap, no repeat, no step back"

    def _look_at_record(self, run: RunRecord) -> None:
        before = self.records.get(run.id, run)
        assert run.updated >= before.updated, f"{run.id}: its heartbeat went back"
        assert before.state in (RunState.RUNNING, run.state), f"{run.id}: was {before.state}, is {run.state}"
        assert run.restarts[: len(before.restarts)] == before.restarts, f"{run.id}: its attempts went back"
        assert run.attempts == len(run.restarts) + 1
        self.records[run.id] = run

    def _look_at_log(self, run_id: RunId) -> None:
        before = self.logs[run_id]
        now = list(RunReader(self.project, run_id).log())
        check_grown(run_id, "log", before, now)
        self.logs[run_id] = now
        if run_id not in self.cursors:
            self.cursors[run_id] = LogCursor(self.project, run_paths(self.project, run_id), 0)
        self.followed[run_id] += (line.decode() for line in self.cursors[run_id].read())
        check_sequence(run_id, "followed log", self.followed[run_id])

    def _look_at_metrics(self, run_id: RunId) -> None:
        found = RunReader(self.project, run_id).metrics()
        assert found.corrupt == ()
        now = [f"{point.name.removeprefix('book-')} {point.step}" for point in found]
        check_grown(run_id, "metrics", self.points[run_id], now)
        self.points[run_id] = now


def check_grown(run_id: RunId, what: str, before: list[str], now: list[str]) -> None:
    assert now[: len(before)] == before, f"{run_id}: the {what} went back: {before[-5:]} then {now[-5:]}"
    check_sequence(run_id, what, now)


def check_sequence(run_id: RunId, what: str, lines: list[str]) -> None:
    """Checks that books come in order and that each begins with line 0 and goes up by one."""
    expected_book, expected_line = 0, 0
    for book, line in positions(lines):
        if (book, line) == (expected_book + 1, 0) and expected_line:
            expected_book, expected_line = book, 0
        assert (book, line) == (expected_book, expected_line), (
            f"{run_id}: gap or repeat in the {what}: {lines}"
        )
        expected_line += 1


def check_complete(run_id: RunId, lines: list[str], books: dict[int, int]) -> None:
    """Checks each book against what its writer told; one batch more may have been stored but not told of."""
    seen: dict[int, int] = defaultdict(int)
    for book, _ in positions(lines):
        seen[book] += 1
    for book, told in books.items():
        assert told <= seen[book] <= told + BATCH, (
            f"{run_id}: of {told} lines of book {book} there are {seen[book]}"
        )


def positions(lines: list[str]) -> Iterator[tuple[int, int]]:
    for line in lines:
        book, number = line.split()
        yield int(book), int(number)


if __name__ == "__main__":
    main()
