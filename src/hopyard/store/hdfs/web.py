"""HDFS over HTTP, where only the web port or a gateway is open."""

from __future__ import annotations

import contextlib
import getpass
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Self
from urllib.parse import quote

import requests
from fsspec.implementations.webhdfs import WebHDFS

from hopyard.errors import StoreFailed
from hopyard.store.filesystem import CHUNK_BYTES, Entry, Server, name_of
from hopyard.store.hdfs.hadoop import HadoopStore, hadoop_error
from hopyard.store.location import Location
from hopyard.store.options import check_options, parameters

_DEFAULT_PORT = 9870
_SERVICE = "/webhdfs/v1"
# Seconds to connect, and to wait for the next bytes.
_TIMEOUT = (30.0, 300.0)


class WebHdfsStore(HadoopStore):
    """A `FileSystem` on WebHDFS.

    fsspec keeps the session and its ways to log in. The calls are made here: fsspec's own write takes
    two requests more, and its rename does nothing, in silence, if the target exists.
    """

    def __init__(self, gateway: WebHDFS, base: str, server: Server) -> None:
        self._gateway = gateway
        self._server = server
        self._base = base

    @classmethod
    def connect(cls, location: Location, options: Mapping[str, object]) -> Self:
        """Returns the file system behind a web address.

        Args:
            location: A place in it.
            options: As fsspec's WebHDFS takes them: ``user``, ``kerberos``, ``token``, ``use_https``, …
                Without any of the first three the user is ``HADOOP_USER_NAME``, or whoever runs this.
        """
        host, _, port = location.authority.partition(":")
        check_options(location, options, parameters(WebHDFS) - {"host", "port"})
        login = dict(options)
        if not login.keys() & {"user", "kerberos", "token"}:
            login["user"] = os.environ.get("HADOOP_USER_NAME") or getpass.getuser()
        gateway = WebHDFS(host, int(port or _DEFAULT_PORT), skip_instance_cache=True, **login)
        scheme = gateway.url.partition(":")[0]
        server = Server(host=host, port=int(port or _DEFAULT_PORT), role="WebHDFS", proxied_as=scheme)
        return cls(gateway, location.base, server)

    def servers(self) -> Sequence[Server]:
        """See `FileSystem.servers`."""
        return (self._server,)

    def probe(self, path: str) -> None:
        """See `FileSystem.probe`."""
        try:
            super().probe(path)
        except (ValueError, KeyError) as error:
            raise StoreFailed(self._url(path), f"no JSON: {type(error).__name__}") from error

    def info(self, path: str) -> Entry:
        """See `FileSystem.info`."""
        return _entry(path, self._call("GET", "GETFILESTATUS", path).json()["FileStatus"])

    def _stream(self, path: str) -> Iterator[bytes]:
        response = self._call("GET", "OPEN", path, redirect=False, stream=True)
        # A gateway gives the content itself.
        if "Location" in response.headers:
            response = self._send("GET", path, _at_datanode(path, response), stream=True)
        with self._errors(path), response:
            yield from response.iter_content(CHUNK_BYTES)

    def _children(self, path: str) -> Sequence[Entry]:
        statuses = self._call("GET", "LISTSTATUS", path).json()["FileStatuses"]["FileStatus"]
        return [_entry(f"{path}/{status['pathSuffix']}".removesuffix("/"), status) for status in statuses]

    def _make(self, path: str) -> None:
        self._call("PUT", "MKDIRS", path)

    def _delete(self, path: str, *, recursive: bool) -> bool:
        answer = self._call("DELETE", "DELETE", path, recursive=str(recursive).lower())
        return bool(answer.json()["boolean"])

    def _create(self, path: str, chunks: Iterable[bytes]) -> None:
        # The NameNode says which DataNode takes the bytes; nothing is sent before.
        answer = self._call("PUT", "CREATE", path, redirect=False, overwrite="false")
        self._send("PUT", path, _at_datanode(path, answer), data=_body(chunks))

    def _rename(self, source: str, target: str, *, replace: bool) -> None:
        option = "OVERWRITE" if replace else "NONE"
        answer = self._call("PUT", "RENAME", source, subject=target, destination=target, renameoptions=option)
        # With an option the NameNode answers nothing. A gateway that does not know options renames in
        # the old way, and tells that it did not by a false.
        if answer.content and not answer.json()["boolean"]:
            raise StoreFailed(self._url(target), "this gateway (HttpFS?) does not know 'renameoptions'")

    def _call(
        self,
        method: str,
        operation: str,
        path: str,
        *,
        redirect: bool = True,
        stream: bool = False,
        subject: str | None = None,
        **parameters: str,
    ) -> requests.Response:
        return self._send(
            method,
            subject or path,
            self._gateway.url + _quoted(path),
            params={**parameters, **self._gateway.pars, "op": operation},
            allow_redirects=redirect,
            stream=stream,
        )

    def _send(self, method: str, path: str, url: str, **arguments: Any) -> requests.Response:
        # The addresses of DataNodes may have to be mapped (fsspec's option `data_proxy`).
        url = self._gateway._apply_proxy(url)  # noqa: SLF001  fsspec offers no public way
        with self._errors(path):
            response: requests.Response = self._gateway.session.request(
                method,
                url,
                timeout=_TIMEOUT,
                headers={"content-type": "application/octet-stream"},
                **arguments,
            )
            if response.status_code >= requests.codes.bad_request:
                raise _refusal(response, self._url(path))
            return response

    def _url(self, path: str) -> str:
        return self._base + path

    @contextlib.contextmanager
    def _errors(self, path: str) -> Iterator[None]:
        try:
            yield
        except requests.RequestException as error:
            raise StoreFailed(self._url(path), str(error)) from error


def _refusal(response: requests.Response, url: str) -> OSError:
    try:
        remote = response.json()["RemoteException"]
        return hadoop_error(remote["exception"], url, remote["message"])
    except (ValueError, KeyError, TypeError):
        return StoreFailed(url, f"HTTP {response.status_code} {response.reason}")


def _at_datanode(path: str, answer: requests.Response) -> str:
    """Returns where the NameNode sends us for the content of a file, with the path as we wrote it.

    Its Java makes one character of a letter and a combining accent: the folder would be another one.
    """
    place, mark, parameters = answer.headers["Location"].partition("?")
    server = place.partition(_SERVICE)[0]
    return f"{server}{_SERVICE}{_quoted(path)}{mark}{parameters}"


def _quoted(path: str) -> str:
    return quote(path, safe="/")


def _body(chunks: Iterable[bytes]) -> bytes | Iterator[bytes]:
    """Returns small content whole, so that it goes with its length and without chunked encoding."""
    pieces = iter(chunks)
    first = next(pieces, b"")
    second = next(pieces, None)
    return first if second is None else _chain(first, second, pieces)


def _chain(first: bytes, second: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield second
    yield from rest


def _entry(path: str, status: dict[str, Any]) -> Entry:
    return Entry(
        name=name_of(path),
        path=path,
        size=status["length"],
        is_dir=status["type"] == "DIRECTORY",
        modified=status["modificationTime"] / 1000,
    )
