from __future__ import annotations

import os
from collections.abc import Iterator
from uuid import uuid4

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from hopyard.errors import (
    AlreadyExists,
    InvalidName,
    NoConditionalCreate,
    RootUnusable,
    StoreFailed,
    UnknownStorageOption,
)
from hopyard.store import Project
from hopyard.store.filesystem import Server
from hopyard.store.fsspec_store import Conditional, FsspecStore
from hopyard.store.location import Location
from hopyard.testing.nasty_names import NASTY_NAMES
from hopyard.testing.s3_server import S3Server
from hopyard.testing.store_contract import StoreContract

pytestmark = pytest.mark.s3

# Of an Azure Storage, or of Azurite: `npx azurite-blob --blobPort 10000`; tests of it need `pip install adlfs`.
AZURE = "HOPYARD_TEST_AZURE"
LARGE = 40 << 20


class ThroughFsspec(Project):
    """A project on S3 by way of fsspec: the one store here whose package has a conditional create."""

    def reach(self, *, patiently: bool = False) -> None:
        if self._connection is not None and self._connection[0] == os.getpid():
            return
        location = Location.parse(self.root)
        files = fsspec.filesystem("s3", use_listings_cache=False, skip_instance_cache=True, **self._options)
        server = Server(host="localhost", port=1, role="S3")
        self._connection = (
            os.getpid(),
            FsspecStore(files, location, server=server, conditional=Conditional(package="s3fs", server="")),
        )


class Generic(StoreContract):
    """The contract, save for names that a package spoils and that are refused, or that nobody can give it."""

    has_real_folders = False
    races = 5
    kills = 2
    longest_write = 0.1

    def spoils(self, name: str) -> bool:
        return False

    def test_unusual_names_work_for_files_and_folders(self, project: Project) -> None:
        names = sorted(name for name in NASTY_NAMES if not self.spoils(name))
        for name in names:
            project.put(f"{name}/{name}", name.encode())
        assert [entry.name for entry in project.list()] == names
        assert [entry.path for entry in project.walk()] == [f"{name}/{name}" for name in names]
        assert [project.read(f"{name}/{name}") for name in names] == [name.encode() for name in names]

    def test_large_file_is_whole_and_write_once_too(self, project: Project) -> None:
        pieces = (bytes([number]) * (1 << 20) for number in range(LARGE >> 20))
        project.write_chunks("large", pieces, overwrite=False)
        with pytest.raises(AlreadyExists):
            project.write_chunks("large", iter([b"y" * LARGE]), overwrite=False)
        content = project.read("large")
        assert (len(content), content[0], content[-1]) == (LARGE, 0, 39)


class TestS3ByWayOfFsspec(Generic):
    is_shared = False  # the project is made by hand in this process

    def spoils(self, name: str) -> bool:
        return "?" in name  # s3fs reads versions into names: one reason why s3:// has a store of its own

    @pytest.fixture
    def project(self, s3_server: S3Server) -> Project:
        root = f"{s3_server.new_bucket()}/some/prefix"
        return ThroughFsspec(root, uuid4().hex, s3_server.storage_options)


class TestAzure(Generic):
    def spoils(self, name: str) -> bool:
        return name.endswith(" ")

    def test_names_that_it_spoils_are_refused(self, project: Project) -> None:
        for path in ("trailing /file", "folder/trailing "):
            with pytest.raises(InvalidName, match="adlfs loses the end"):
                project.put(path, b"")
            with pytest.raises(InvalidName):
                project.mkdir(path)

    @pytest.fixture
    def project(self) -> Iterator[Project]:
        adlfs = pytest.importorskip("adlfs")
        if AZURE not in os.environ:
            pytest.skip(f"{AZURE} has no connection string")
        options = {"connection_string": os.environ[AZURE]}
        container = f"hopyard-{uuid4().hex[:12]}"
        files = adlfs.AzureBlobFileSystem(**options, use_listings_cache=False)
        files.mkdir(container)
        yield Project.open(f"abfs://{container}/some/prefix", uuid4().hex, storage_options=options)
        files.rm(container, recursive=True)

    def test_option_that_nobody_knows_is_refused(self, project: Project) -> None:
        wrong = Project.open("abfs://c", "p", storage_options={"conection_string": "x"})
        with pytest.raises(UnknownStorageOption, match="did you mean 'connection_string'"):
            wrong.exists()

    def test_container_that_is_not_there_is_named(self, project: Project) -> None:
        other = Project.open("abfs://no-such-container", "p", storage_options=project._options)
        with pytest.raises(RootUnusable, match="no-such-container"):
            other.put("file", b"")


def test_store_that_looks_first_and_then_writes_is_refused() -> None:
    with pytest.raises(NoConditionalCreate, match="creates a file only if it is not there"):
        Project.open("sftp://host/a", "p")


class Forgetful(MemoryFileSystem):
    """A file system that takes the mode and overwrites all the same, as a server does that does not know the condition."""

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **more: object) -> None:
        super().pipe_file(path, value)


def test_server_that_ignores_the_condition_is_found_out() -> None:
    server = Server(host="localhost", port=1, role="none")
    location = Location.parse(f"gs://{uuid4().hex}")
    store = FsspecStore(
        Forgetful(skip_instance_cache=True),
        location,
        server=server,
        conditional=Conditional(package="fsspec", server=""),
    )
    store.write("/a", [b"1"], replace=True)
    with pytest.raises(StoreFailed, match="only if it is not there"):
        store.write("/b", [b"1"], replace=False)
