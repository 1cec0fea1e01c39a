from uuid import uuid4

import fsspec
import pytest

from hopyard.store import Project
from hopyard.testing.store_contract import StoreContract

pytestmark = pytest.mark.unit


class TestMemoryStore(StoreContract):
    is_shared = False

    @pytest.fixture
    def project(self) -> Project:
        return Project.open(f"memory://{uuid4().hex}/root", "demo")


def test_fsspec_sees_the_files_of_a_project_in_memory() -> None:
    project = Project.open(f"memory://{uuid4().hex}", "demo")
    project.put("folder/file", b"content")
    with fsspec.open(project.url("folder/file"), "rb") as file:
        assert file.read() == b"content"


def test_roots_in_memory_are_apart() -> None:
    one, other = (Project.open(f"memory://{uuid4().hex}", "demo") for _ in range(2))
    one.put("file", b"")
    assert not other.exists()
