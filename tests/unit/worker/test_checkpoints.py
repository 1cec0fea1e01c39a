from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hopyard import Project
from hopyard.protocol.plan import Plan
from hopyard.tracking import RunId
from hopyard.worker.checkpoints import Checkpoints
from hopyard.worker.task import NodeTask

pytestmark = pytest.mark.unit


def task(project: Project, rank: int = 0, attempt: int = 0) -> NodeTask:
    plan = Plan.of(2)
    return NodeTask(
        node=plan.nodes[rank],
        plan=plan,
        run_id=RunId("app", "launcher", 1),
        project=project,
        payload=b"",
        attempt=attempt,
    )


@pytest.fixture
def far(tmp_path: Path) -> Project:
    """A project without paths on this host, as on an object store."""
    return Project.open(root=f"memory://{tmp_path.name}")


def kept(project: Project) -> set[str]:
    folder = project.layout.run("app", "launcher", 1).checkpoints
    return {Path(entry.path).name for entry in project.list(folder)} if project.exists(folder) else set()


def test_a_project_on_a_file_system_is_written_to_directly_by_all_nodes(tmp_path: Path) -> None:
    project = Project.open()
    for rank in (0, 1):
        folder = Checkpoints(task(project, rank), tmp_path / "scratch").folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"part-{rank}").write_bytes(b"weights")
    assert kept(project) == {"part-0", "part-1"}


def test_the_folder_is_the_same_in_each_attempt_of_a_run(tmp_path: Path) -> None:
    first = Checkpoints(task(Project.open()), tmp_path)
    again = Checkpoints(task(Project.open(), attempt=1), tmp_path)
    again.fetch()
    again.sync()
    again.final()
    assert first.folder == again.folder


def test_elsewhere_what_rank_0_saves_is_kept_and_a_later_attempt_finds_it(
    far: Project, tmp_path: Path
) -> None:
    first = Checkpoints(task(far), tmp_path / "first")
    first.fetch()
    first.sync()  # before anything was saved
    first.folder.mkdir(parents=True)
    (first.folder / "ckpt-1").write_bytes(b"weights")
    first.final()
    assert kept(far) == {"ckpt-1"}
    for rank in (0, 1):
        again = Checkpoints(task(far, rank, attempt=1), tmp_path / f"again-{rank}")
        again.fetch()
        assert (again.folder / "ckpt-1").read_bytes() == b"weights"


def test_elsewhere_what_other_nodes_save_stays_with_them(far: Project, tmp_path: Path) -> None:
    worker = Checkpoints(task(far, rank=1), tmp_path)
    worker.folder.mkdir()
    (worker.folder / "ckpt-1").write_bytes(b"weights")
    worker.sync()
    worker.final()
    assert kept(far) == set()


def test_a_restart_before_the_first_checkpoint_finds_none(far: Project, tmp_path: Path) -> None:
    again = Checkpoints(task(far, attempt=1), tmp_path)
    again.fetch()
    again.sync()
    again.final()
    assert not again.folder.exists()


def test_a_first_attempt_finds_nothing_of_a_run_before(far: Project, tmp_path: Path) -> None:
    other = replace(task(far), run_id=RunId("app", "launcher", 2))
    first = Checkpoints(task(far), tmp_path / "one")
    first.folder.mkdir(parents=True)
    (first.folder / "ckpt-1").write_bytes(b"weights")
    first.final()
    second = Checkpoints(other, tmp_path / "two")
    second.fetch()
    assert not second.folder.exists()
