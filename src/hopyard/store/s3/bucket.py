"""One S3 bucket: single calls, with our errors."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from typing import Any, Self
from urllib.parse import urlsplit

import aiohttp
import s3fs
from aiobotocore.session import AioSession  # type: ignore[import-untyped]  # no types shipped
from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError  # type: ignore[import-untyped]  # no types shipped
from fsspec.asyn import sync

from hopyard.errors import AlreadyExists, PathNotFound, RootUnusable, StoreFailed
from hopyard.store.filesystem import CHUNK_BYTES, Server
from hopyard.store.location import Location
from hopyard.store.options import check_options, parameters

_CREDENTIALS = (
    "Check key and secret in HOPYARD_STORAGE_OPTIONS, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
)
_BUCKET = "Make the bucket, or correct HOPYARD_ROOT (or --root)"
# Every listing says some of this, also an empty one.
_LISTING = {"Name", "Prefix", "KeyCount", "MaxKeys", "Contents"}
# s3fs hands what it does not know to fsspec, which asks for these, and to the session of aiobotocore
_OPTIONS = (
    parameters(s3fs.S3FileSystem)
    | parameters(AioSession)
    | {"use_listings_cache", "listings_expiry_time", "max_paths", "skip_instance_cache", "batch_size"}
)
_AMAZON = "https://s3.amazonaws.com"


class Bucket:
    """A bucket, through the connection, credentials and retries of s3fs.

    Of s3fs's own file system nothing else is used: it reads versions into names and keeps listings.
    """

    def __init__(self, connection: s3fs.S3FileSystem, name: str, endpoint: str) -> None:
        self.name = name
        self._connection = connection
        self._endpoint = endpoint

    @classmethod
    def connect(cls, location: Location, options: Mapping[str, object]) -> Self:
        """Returns the bucket of a location; `options` are the arguments of ``s3fs.S3FileSystem``."""
        check_options(location, options, _OPTIONS)
        arguments = {"use_listings_cache": False, **options, "skip_instance_cache": True}
        return cls(s3fs.S3FileSystem(**arguments), location.authority, _endpoint(options, os.environ))

    def server(self) -> Server:
        """Returns who answers."""
        url = urlsplit(self._endpoint)
        port = url.port or (80 if url.scheme == "http" else 443)
        return Server(host=url.hostname or "", port=port, role="S3", proxied_as=url.scheme)

    def probe(self, folder: str) -> None:
        """Asks for one object below a folder.

        Raises:
            RootUnusable: The server knows no such bucket, or does not let us in.
            StoreFailed: It cannot be reached, or answered otherwise.
        """
        try:
            page = next(self.pages(folder, MaxKeys=1))
        except PermissionError as error:
            reason = f"the S3 server {self.server()} does not let you in ({str(error).rstrip('.')})"
            raise RootUnusable(self.url(folder), reason, _CREDENTIALS) from error
        except StoreFailed as error:
            if isinstance(error.__cause__, NoCredentialsError):
                raise RootUnusable(
                    self.url(folder), "there are no credentials for S3", _CREDENTIALS
                ) from error
            if code_of(error) != "NoSuchBucket":
                raise
            reason = f"the S3 server {self.server()} has no bucket {self.name!r}"
            raise RootUnusable(self.url(folder), reason, _BUCKET) from error
        if not page.keys() & _LISTING:
            raise StoreFailed(self.url(folder), "its answer is no listing")

    def call(self, method: str, path: str, **arguments: object) -> dict[str, Any]:
        """Calls S3 for one object and returns its answer.

        Raises:
            PathNotFound: There is no such object.
            AlreadyExists: A condition did not hold.
            StoreFailed: Anything else.
        """
        with self._errors(path):
            answer: dict[str, Any] = self._connection.call_s3(
                method, Bucket=self.name, Key=path[1:], **arguments
            )
            return answer

    def pages(self, folder: str, **arguments: object) -> Iterator[dict[str, Any]]:
        """Yields the pages of a listing of all that is below a folder."""
        more = dict(arguments)
        while True:
            with self._errors(folder):
                page: dict[str, Any] = self._connection.call_s3(
                    "list_objects_v2", Bucket=self.name, Prefix=f"{folder[1:]}/", **more
                )
            yield page
            if not page.get("IsTruncated"):
                return
            more["ContinuationToken"] = page["NextContinuationToken"]

    def delete(self, paths: list[str]) -> None:
        """Deletes up to 1,000 objects at once."""
        objects = [{"Key": path[1:]} for path in paths]
        with self._errors(paths[0]):
            answer = self._connection.call_s3(
                "delete_objects", Bucket=self.name, Delete={"Objects": objects, "Quiet": True}
            )
        for error in answer.get("Errors", ()):
            raise StoreFailed(self.url(f"/{error['Key']}"), f"it was not removed: {error['Message']}")

    def chunks(self, path: str, body: Any) -> Iterator[bytes]:
        """Yields the content that comes with an answer."""
        with self._errors(path), contextlib.closing(body):
            while chunk := sync(self._connection.loop, body.read, CHUNK_BYTES):
                yield chunk

    def url(self, path: str) -> str:
        """Returns the full URL of an object."""
        return f"s3://{self.name}{path}"

    @contextlib.contextmanager
    def _errors(self, path: str) -> Iterator[None]:
        try:
            yield
        except PermissionError:
            raise
        except OSError as error:
            code = code_of(error)
            if code in {"NoSuchKey", "404"}:
                raise PathNotFound(self.url(path)) from error
            if code in {"PreconditionFailed", "412"}:
                raise AlreadyExists(self.url(path)) from error
            raise StoreFailed(self.url(path), str(error)) from error
        except (BotoCoreError, aiohttp.ClientError) as error:
            raise StoreFailed(self.url(path), str(error)) from error


def _endpoint(options: Mapping[str, object], environ: Mapping[str, str]) -> str:
    """Returns the URL of the server, as s3fs finds it."""
    inner = options.get("client_kwargs")
    candidates = (
        options.get("endpoint_url"),
        inner.get("endpoint_url") if isinstance(inner, Mapping) else None,
        environ.get("AWS_ENDPOINT_URL_S3"),
        environ.get("AWS_ENDPOINT_URL"),
    )
    return str(next(filter(None, candidates), _AMAZON))


def code_of(error: BaseException) -> str | None:
    """Returns the code in the answer that an error came from."""
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error.response["Error"]["Code"]) if isinstance(error, ClientError) else None
