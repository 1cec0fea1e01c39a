"""HDFS over its own protocol, without a JVM."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Self

from hdfs_native import Client, FileStatus, WriteOptions

from hopyard.errors import AlreadyExists, PathNotFound, StoreFailed, StoreUnreachable
from hopyard.store.filesystem import Entry, Server, name_of
from hopyard.store.hdfs.config import namenodes
from hopyard.store.hdfs.hadoop import HadoopStore, hadoop_error
from hopyard.store.location import Location
from hopyard.store.options import check_options

_CLIENT_ARGUMENTS = ("config_dir", "kerberos_principal", "kerberos_keytab", "kerberos_cache")
# The client knows few Java exceptions; it shows the others in this form.
_RPC_ERROR = re.compile(r'RPCError\("(?P<java_class>[\w.$]+)", "(?P<message>.*?)(\\n|"\)$)', re.DOTALL)


class HdfsStore(HadoopStore):
    """A `FileSystem` on HDFS.

    Not through fsspec: the client's wrapper for it reads names as URLs and so loses ``?`` and ``#``.
    """

    def __init__(self, client: Client, base: str, servers: Sequence[Server] = ()) -> None:
        self._client = client
        self._servers = servers
        self._base = base
        self._process = os.getpid()

    def __del__(self) -> None:
        # The threads of the client did not come along in a fork, and dropping the client there would wait
        # for them for ever. One more reference keeps it until the process ends.
        if self._process != os.getpid():
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._client))

    @classmethod
    def connect(cls, location: Location, options: Mapping[str, object]) -> Self:
        """Returns the file system of a NameNode.

        A URL without a host means the ``fs.defaultFS`` of the Hadoop configuration.

        Args:
            location: A place in it.
            options: ``config_dir`` and ``kerberos_…`` as the client takes them; all others are Hadoop
                settings such as ``dfs.replication``.
        """
        named = {key: value for key, value in options.items() if "." not in key}
        check_options(location, named, _CLIENT_ARGUMENTS, "Hadoop settings such as 'dfs.replication'")
        settings = {key: _setting(value) for key, value in options.items() if key not in _CLIENT_ARGUMENTS}
        arguments = {key: str(options[key]) for key in _CLIENT_ARGUMENTS if key in options}
        servers = namenodes(location, options)
        try:
            with _errors(str(location)):
                client = Client(location.base if location.authority else None, settings, **arguments)
        except StoreFailed as error:
            if servers:
                raise
            remedy = "Write host and port, as in hdfs://namenode:8020, or let HADOOP_CONF_DIR name the right folder"
            raise StoreUnreachable(
                str(location) or "hdfs://", _no_namenode(location, error), remedy
            ) from error
        return cls(client, location.base, servers)

    def servers(self) -> Sequence[Server]:
        """See `FileSystem.servers`."""
        return self._servers

    def info(self, path: str) -> Entry:
        """See `FileSystem.info`."""
        with self._errors(path):
            return _entry(self._client.get_file_info(path))

    def _stream(self, path: str) -> Iterator[bytes]:
        with self._errors(path):
            reader = self._client.read(path)
            yield from reader.read_range_stream(0, len(reader))

    def _children(self, path: str) -> Sequence[Entry]:
        with self._errors(path):
            return [_entry(status) for status in self._client.list_status(path)]

    def _make(self, path: str) -> None:
        with self._errors(path):
            self._client.mkdirs(path, create_parent=True)

    def _delete(self, path: str, *, recursive: bool) -> bool:
        with self._errors(path):
            return self._client.delete(path, recursive)

    def _create(self, path: str, chunks: Iterable[bytes]) -> None:
        with self._errors(path):
            writer = self._client.create(path, WriteOptions(create_parent=True))
        try:
            for chunk in chunks:
                with self._errors(path):
                    writer.write(chunk)
        finally:
            with self._errors(path):
                writer.close()

    def _rename(self, source: str, target: str, *, replace: bool) -> None:
        with self._errors(target):
            self._client.rename(source, target, replace)

    def _url(self, path: str) -> str:
        return self._base + path

    def _errors(self, path: str) -> contextlib.AbstractContextManager[None]:
        return _errors(self._url(path))


def _no_namenode(location: Location, error: StoreFailed) -> str:
    if location.authority:
        return f"it has no port, and no nameservice {location.authority!r} is in the Hadoop configuration ({error.reason})"
    return f"the Hadoop configuration does not name a NameNode ({error.reason})"


@contextlib.contextmanager
def _errors(url: str) -> Iterator[None]:
    """Turns the client's errors into ours."""
    try:
        yield
    except FileNotFoundError as error:
        raise PathNotFound(url) from error
    except FileExistsError as error:
        raise AlreadyExists(url) from error
    except RuntimeError as error:
        match = _RPC_ERROR.match(str(error))
        if match is None:
            raise StoreFailed(url, str(error)) from error
        raise hadoop_error(match["java_class"], url, match["message"]) from error


def _entry(status: FileStatus) -> Entry:
    return Entry(
        name=name_of(status.path),
        path=status.path,
        size=status.length,
        is_dir=status.isdir,
        modified=status.modification_time / 1000,
    )


def _setting(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
