"""Which kinds of store there are: protocol, adapter and what to install for it."""

from __future__ import annotations

import importlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from hopyard.errors import MissingDependency, NoConditionalCreate, UnsupportedStore
from hopyard.store.filesystem import FileSystem
from hopyard.store.location import LOCAL, Location


@dataclass(frozen=True, slots=True)
class StoreKind:
    """A row of the registry.

    Attributes:
        protocol: What a URL of this kind starts with.
        module: Module of the adapter, imported when the first project of this kind is opened.
        adapter: Class in that module, with a ``connect(location, options)``.
        package: Third-party package that the module imports, with others that come with it; empty if there is none.
        extra: Extra of Hopyard that installs the package.
        is_near: Whether this machine answers by itself, so that no call takes long.
    """

    protocol: str
    module: str
    adapter: str
    package: str = ""
    extra: str = ""
    is_near: bool = False


FSSPEC = "hopyard.store.fsspec_store"
KINDS = (
    StoreKind(LOCAL, "hopyard.store.local.disk", "LocalFileSystem", is_near=True),
    StoreKind("memory", "hopyard.store.memory", "MemoryStore", is_near=True),
    StoreKind("hdfs", "hopyard.store.hdfs.native", "HdfsStore", package="hdfs_native", extra="hdfs"),
    StoreKind("webhdfs", "hopyard.store.hdfs.web", "WebHdfsStore", package="requests", extra="webhdfs"),
    StoreKind("s3", "hopyard.store.s3.s3", "S3Store", package="s3fs", extra="s3"),
    StoreKind("gs", FSSPEC, "FsspecStore", package="gcsfs", extra="gcs"),
    StoreKind("gcs", FSSPEC, "FsspecStore", package="gcsfs", extra="gcs"),
    StoreKind("abfs", FSSPEC, "FsspecStore", package="adlfs", extra="azure"),
    StoreKind("abfss", FSSPEC, "FsspecStore", package="adlfs", extra="azure"),
    StoreKind("az", FSSPEC, "FsspecStore", package="adlfs", extra="azure"),
)


def kind_of(location: Location) -> StoreKind:
    """Returns the row for a location.

    Raises:
        UnsupportedStore: No row has its protocol.
        NoConditionalCreate: Neither; fsspec has it, without what a project needs.
    """
    for kind in KINDS:
        if kind.protocol == location.protocol:
            return kind
    known = ", ".join(f"{kind.protocol}://" for kind in KINDS)
    if location.protocol in fsspec_protocols():
        raise NoConditionalCreate(str(location), known)
    raise UnsupportedStore(str(location), known)


def fsspec_protocols() -> Collection[str]:
    """Returns the protocols that fsspec knows; most of their stores cannot hold a project."""
    from fsspec.registry import known_implementations, registry

    return {*known_implementations, *registry}


def connect(location: Location, options: Mapping[str, object]) -> FileSystem:
    """Returns the file system of a location.

    Raises:
        UnsupportedStore: Nobody here speaks its protocol.
        MissingDependency: The package that speaks it is not installed.
    """
    kind = kind_of(location)
    try:
        if kind.package:
            importlib.import_module(kind.package)
        module = importlib.import_module(kind.module)
    except ModuleNotFoundError as error:
        if not kind.package or (error.name or "").startswith("hopyard"):
            raise
        raise MissingDependency(kind.package, f"a project on {kind.protocol}://", kind.extra) from error
    store: FileSystem = getattr(module, kind.adapter).connect(location, options)
    return store
