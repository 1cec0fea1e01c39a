import os
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from hopyard.errors import FilesNotStored, StoreFailed
from hopyard.store import FolderSync, Project

pytestmark = pytest.mark.unit

CHECKPOINTS = 150
LONG_AGO_NS = 1_000_000_000 * 10**9


@pytest.fixture
def project() -> Project:
    return Project.open(f"memory://{uuid4().hex}", "demo")


@pytest.fixture
def local(tmp_path: Path) -> Path:
    folder = tmp_path / "logdir"
    folder.mkdir()
    return folder


def settled(path: Path, content: bytes, *, age: int = 0) -> None:
    """Writes a file whose time is long past, so that it counts as unchanged from now on."""
    path.write_bytes(content)
    os.utime(path, ns=(LONG_AGO_NS - age, LONG_AGO_NS - age))


def test_only_new_and_changed_files_are_copied(project: Project, local: Path) -> None:
    sync = FolderSync(project, local, "run")
    settled(local / "a", b"1")
    settled(local / "b", b"1")
    assert sync.sync().copied == ("a", "b")
    settled(local / "b", b"2", age=1)
    (local / "c").write_bytes(b"")
    report = sync.sync()
    assert report.copied == ("b", "c")
    assert report.size == 1
    assert project.read("run/b") == b"2"


def test_same_size_and_time_is_not_enough_while_the_file_is_young(project: Project, local: Path) -> None:
    sync = FolderSync(project, local, "run")
    (local / "file").write_bytes(b"1")
    time = (local / "file").stat().st_mtime_ns
    sync.sync()
    (local / "file").write_bytes(b"2")
    os.utime(local / "file", ns=(time, time))
    sync.final()
    assert project.read("run/file") == b"2"


def test_file_replaced_by_an_older_one_of_the_same_size_is_copied(project: Project, local: Path) -> None:
    sync = FolderSync(project, local, "run")
    settled(local / "file", b"1")
    sync.sync()
    settled(local / "other", b"2")
    os.replace(local / "other", local / "file")
    sync.sync()
    assert project.read("run/file") == b"2"


def test_what_is_removed_locally_stays_in_the_project(project: Project, local: Path) -> None:
    sync = FolderSync(project, local, "run")
    (local / "file").write_bytes(b"1")
    sync.sync()
    (local / "file").unlink()
    assert sync.final().copied == ()
    assert project.read("run/file") == b"1"


def test_missing_folder_is_no_error(project: Project, tmp_path: Path) -> None:
    assert FolderSync(project, tmp_path / "not yet", "run").final().copied == ()


def test_users_file_does_not_take_a_reserved_name(project: Project, local: Path) -> None:
    project.put("run/run.json", b"ours")
    (local / "run.json").write_bytes(b"theirs")
    (local / "metrics").mkdir()
    (local / "metrics" / "00001.jsonl").write_bytes(b"theirs")
    (local / "below").mkdir()
    (local / "below" / "run.json").write_bytes(b"free here")
    report = FolderSync(project, local, "run", frozenset({"run.json", "metrics"})).sync()
    assert report.renamed == (
        ("metrics/00001.jsonl", "metrics.user/00001.jsonl"),
        ("run.json", "run.json.user"),
    )
    assert project.read("run/run.json") == b"ours"
    assert project.read("run/run.json.user") == b"theirs"
    assert project.read("run/below/run.json") == b"free here"
    assert not project.exists("run/metrics")


def test_reserved_names_may_be_patterns(project: Project, local: Path) -> None:
    sync = FolderSync(project, local, "run", frozenset({"node.[0-9]*"}))
    assert sync.stored_as("node.12/events") == "node.12.user/events"
    assert sync.stored_as("node.js") == "node.js"


def test_no_two_files_are_stored_as_one(project: Project, local: Path) -> None:
    names = ["run.json", "run.json.user", "run.json.user.user", "other.user"]
    for name in names:
        (local / name).write_bytes(name.encode())
    FolderSync(project, local, "run", frozenset({"run.json"})).final()
    stored = {project.read(entry.path) for entry in project.list("run")}
    assert stored == {name.encode() for name in names}


def test_final_names_all_files_that_are_not_stored(project: Project, local: Path) -> None:
    long_names = [
        letter * 200 + "/" + letter * 200 + "/" + letter * 200 + "/" + letter * 200 for letter in "ab"
    ]
    for name in ("good", *long_names):
        (local / name).parent.mkdir(parents=True, exist_ok=True)
        (local / name).write_bytes(b"")
    with pytest.raises(FilesNotStored) as caught:
        FolderSync(project, local, "run").final()
    assert all(name in str(caught.value) for name in long_names)
    assert project.exists("run/good")


def test_a_name_that_not_every_store_can_hold_is_spelled_out_and_told(project: Project, local: Path) -> None:
    (local / "at:12").mkdir()
    (local / "at:12" / "new\nline").write_bytes(b"kept")
    report = FolderSync(project, local, "run").final()
    assert report.renamed == (("at:12/new\nline", "at%3A12/new%0Aline"),)
    assert project.read("run/at%3A12/new%0Aline") == b"kept"


def test_a_link_that_leads_out_is_told_and_hinders_nobody(project: Project, local: Path) -> None:
    (local / "good").write_bytes(b"")
    (local / "link").symlink_to("/etc/hostname")
    report = FolderSync(project, local, "run").final()
    assert report.copied == ("good",)
    assert [path for path, _ in report.refused] == ["link"]


class MeddlingProject(Project):
    """A project that lets something happen to the local file after its first piece was read."""

    def meddle(self) -> None:
        """Nothing, unless a test says so."""

    def write_chunks(self, relative: str, chunks: Iterator[bytes], *, overwrite: bool) -> None:
        super().write_chunks(relative, self._meddled(chunks), overwrite=overwrite)

    def _meddled(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        for chunk in chunks:
            yield chunk
            self.meddle()


@pytest.fixture
def meddling() -> MeddlingProject:
    return MeddlingProject(f"memory://{uuid4().hex}", "demo")


def test_file_that_grows_arrives_as_it_was_and_then_whole(meddling: MeddlingProject, local: Path) -> None:
    file = local / "events"
    settled(file, b"first,")
    meddling.meddle = lambda: append(file, b"second,")  # type: ignore[method-assign]
    sync = FolderSync(meddling, local, "run")
    assert sync.sync().failed == ()
    assert meddling.read("run/events") == b"first,"
    del meddling.meddle
    sync.final()
    assert meddling.read("run/events") == b"first,second,"


def test_file_that_is_rewritten_meanwhile_is_left_for_the_next_pass(
    meddling: MeddlingProject, local: Path
) -> None:
    file = local / "state"
    settled(file, b"old")
    meddling.meddle = lambda: settled(file, b"new", age=5)  # type: ignore[method-assign]
    sync = FolderSync(meddling, local, "run")
    assert sync.sync().failed == (("state", str(StoreFailed(str(file), "it changed while it was copied"))),)
    assert not meddling.exists("run/state")
    del meddling.meddle
    sync.final()
    assert meddling.read("run/state") == b"new"


def test_file_that_vanishes_meanwhile_arrives_whole(meddling: MeddlingProject, local: Path) -> None:
    file = local / "state"
    settled(file, b"content")
    meddling.meddle = file.unlink  # type: ignore[method-assign]
    assert FolderSync(meddling, local, "run").final().copied == ("state",)
    assert meddling.read("run/state") == b"content"


# --- order ---


class WatchedProject(Project):
    """A project that calls `look` after each file that has arrived."""

    look: Callable[[str], object] = staticmethod(lambda _: None)

    def write_chunks(self, relative: str, chunks: Iterable[bytes], *, overwrite: bool) -> None:
        super().write_chunks(relative, iter(chunks), overwrite=overwrite)
        self.look(relative)


@pytest.fixture
def watched() -> WatchedProject:
    return WatchedProject(f"memory://{uuid4().hex}", "demo")


def test_files_arrive_in_the_order_in_which_they_were_written(watched: WatchedProject, local: Path) -> None:
    arrived: list[str] = []
    watched.look = arrived.append
    (local / "below").mkdir()
    for age, name in ((1, "index"), (3, "z"), (2, "below/data"), (2, "a"), (0, "b")):
        settled(local / name, b"", age=age)
    report = FolderSync(watched, local, "run").sync()
    assert report.copied == ("z", "a", "below/data", "index", "b")
    assert arrived == [f"run/{name}" for name in report.copied]


def test_an_index_that_moves_on_while_files_are_copied_waits_for_its_data(
    watched: WatchedProject, local: Path
) -> None:
    sync = FolderSync(watched, local, "run")
    settled(local / "data-1", b"1", age=2)
    replace_file(local / "checkpoint", b"data-1")

    def write_next(_: str) -> None:
        watched.look = check_index(watched)
        (local / "data-2").write_bytes(b"2")
        replace_file(local / "checkpoint", b"data-2")

    watched.look = write_next
    report = sync.sync()
    assert report.copied == ("data-1",)
    assert [path for path, _ in report.failed] == ["checkpoint"]
    assert sync.final().copied[-1] == "checkpoint"
    assert watched.read("run/checkpoint") == b"data-2"


@pytest.mark.parametrize("in_place", [False, True])
def test_an_index_never_arrives_before_the_data_that_it_points_to(
    watched: WatchedProject, local: Path, in_place: bool
) -> None:
    sync = FolderSync(watched, local, "run")
    watched.look = check_index(watched)
    (local / "data-000").write_bytes(b"larger than what points to it")
    (local / "checkpoint").write_bytes(b"data-000")

    def train() -> None:
        for number in range(1, CHECKPOINTS):
            name = f"data-{number:03d}"
            (local / name).write_bytes(b"larger than what points to it")
            if in_place:
                with (local / "checkpoint").open("r+b", buffering=0) as index:
                    index.write(name.encode())
            else:
                replace_file(local / "checkpoint", name.encode())

    training = threading.Thread(target=train)
    training.start()
    while training.is_alive():
        sync.sync()
    training.join()
    sync.final()
    assert watched.read("run/checkpoint") == f"data-{CHECKPOINTS - 1:03d}".encode()


class BusyFolder(type(Path())):  # type: ignore[misc]
    """A folder in which a file grows whenever somebody looks."""

    def resolve(self, strict: bool = False) -> Path:
        append(Path(self) / "events", b"more,")
        return Path(super().resolve(strict))


def test_a_file_that_grows_at_every_look_arrives_all_the_same(project: Project, local: Path) -> None:
    (local / "events").write_bytes(b"first,")
    assert FolderSync(project, BusyFolder(local), "run").sync().copied == ("events",)
    assert project.read("run/events") == b"first,more,more,"


def test_nothing_newer_is_copied_than_a_file_that_failed_if_order_matters_most(
    project: Project, local: Path
) -> None:
    project.mkdir("run/data")  # in the way
    for age, name in ((3, "older"), (2, "data"), (1, "index")):
        settled(local / name, b"", age=age)
    sync = FolderSync(project, local, "run", in_order=True)
    report = sync.sync()
    assert report.copied == ("older",)
    assert [path for path, _ in report.failed] == ["data", "index"]
    assert dict(report.failed)["index"] == "it waits for data, which is older"
    project.remove("run/data")
    assert sync.final().copied == ("data", "index")


def check_index(project: Project) -> Callable[[str], None]:
    def check(_: str) -> None:
        if project.exists("run/checkpoint"):
            data = project.read("run/checkpoint").decode()
            assert project.exists(f"run/{data}"), f"{data} is missing"

    return check


def replace_file(path: Path, content: bytes) -> None:
    fresh = path.with_name("fresh.tmp")
    fresh.write_bytes(content)
    fresh.replace(path)


# --- failures ---


def test_one_failing_file_does_not_hold_up_the_others(project: Project, local: Path) -> None:
    project.mkdir("run/a")
    for name in "abc":
        (local / name).write_bytes(name.encode())
    report = FolderSync(project, local, "run").sync()
    assert report.copied == ("b", "c")
    assert [path for path, _ in report.failed] == ["a"]


def append(file: Path, content: bytes) -> None:
    with file.open("ab") as growing:
        growing.write(content)
