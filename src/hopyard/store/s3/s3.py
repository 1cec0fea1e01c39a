"""S3 and what speaks its language."""

from __future__ import annotations

import contextlib
import itertools
import secrets
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

from hopyard.errors import AlreadyExists, FolderNotEmpty, IsAFolder, NotAFolder, PathNotFound, StoreFailed
from hopyard.store.filesystem import Capabilities, Entry, Server, name_of
from hopyard.store.location import Location
from hopyard.store.s3.bucket import Bucket, code_of

# S3 wants parts of at least 5 MiB and at most 10,000 of them: they grow with the file.
_PART_BYTES = 16 << 20
_PARTS_OF_ONE_SIZE = 1000
_LARGEST_COPY = 5 << 30
_DELETED_AT_ONCE = 1000
# What S3 answers when another write of the same key is under way; it asks to try again.
_CONFLICT_ATTEMPTS = 10
_READ_ATTEMPTS = 4
_WRITER = "hopyard-writer"


class S3Store:
    """A `FileSystem` on S3.

    An object appears whole by nature, and ``If-None-Match: *`` makes it write-once. Folders are what keys
    have in common; `mkdir` leaves an empty object ``folder/``, as other tools do. S3 itself would let
    ``a`` and ``a/b`` both be files, and that is not looked for at each write.
    """

    capabilities = Capabilities()

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket
        self._keeps_conditions = False

    @classmethod
    def connect(cls, location: Location, options: Mapping[str, object]) -> Self:
        """Returns the file system of a bucket; `options` are the arguments of ``s3fs.S3FileSystem``."""
        return cls(Bucket.connect(location, options))

    def servers(self) -> tuple[Server, ...]:
        """See `FileSystem.servers`."""
        return (self._bucket.server(),)

    def probe(self, path: str) -> None:
        """See `FileSystem.probe`."""
        self._bucket.probe(path)

    def write(self, path: str, chunks: Iterable[bytes], *, replace: bool) -> None:
        """See `FileSystem.write`."""
        token = secrets.token_hex(8)
        condition = {} if replace else {"IfNoneMatch": "*"}
        try:
            self._upload(path, _parts(chunks), condition, {_WRITER: token})
        except AlreadyExists:
            # The connection repeats a request whose answer got lost: then the file in the way is this one.
            if self._writer_of(path) != token:
                raise

    def read(self, path: str) -> Iterator[bytes]:
        """See `FileSystem.read`; goes on where a connection broke, as long as the file is the same."""
        position, version, failures = 0, "", 0
        while True:
            answer = self._open(path, position, version)
            version = answer["ETag"]
            try:
                for chunk in self._bucket.chunks(path, answer["Body"]):
                    position, failures = position + len(chunk), 0
                    yield chunk
            except StoreFailed:
                failures += 1
                if failures == _READ_ATTEMPTS:
                    raise
            else:
                return

    def _open(self, path: str, position: int, version: str) -> dict[str, Any]:
        rest = {"Range": f"bytes={position}-", "IfMatch": version} if position else {}
        try:
            return self._bucket.call("get_object", path, **rest)
        except PathNotFound as error:
            raise (IsAFolder if self._is_folder(path) else PathNotFound)(self._bucket.url(path)) from error
        except AlreadyExists as error:
            raise StoreFailed(self._bucket.url(path), "it was replaced while it was read") from error

    def info(self, path: str) -> Entry:
        """See `FileSystem.info`."""
        try:
            return _file(path, self._bucket.call("head_object", path), "ContentLength")
        except PathNotFound:
            if not self._is_folder(path):
                raise
            return _folder(path)

    def list(self, path: str) -> Iterable[Entry]:
        """See `FileSystem.list`."""
        entries = []
        found = False
        for page in self._bucket.pages(path, Delimiter="/"):
            for item in page.get("Contents", ()):
                found = True
                if not item["Key"].endswith("/"):
                    entries.append(_file(f"/{item['Key']}", item, "Size"))
            for item in page.get("CommonPrefixes", ()):
                entries.append(_folder(f"/{item['Prefix']}".removesuffix("/")))
        if not found and not entries:
            self._bucket.call("head_object", path)
            raise NotAFolder(self._bucket.url(path))
        return entries

    def mkdir(self, path: str) -> None:
        """See `FileSystem.mkdir`."""
        try:
            if not self.info(path).is_dir:
                raise NotAFolder(self._bucket.url(path))
        except PathNotFound:
            self._bucket.call("put_object", f"{path}/", Body=b"")

    def remove(self, path: str, *, recursive: bool) -> None:
        """See `FileSystem.remove`."""
        if not self.info(path).is_dir:
            self._bucket.call("delete_object", path)
            return
        keys = list(self._keys_below(path))
        if not recursive and any(key != f"{path}/" for key in keys):
            raise FolderNotEmpty(self._bucket.url(path))
        for start in range(0, len(keys), _DELETED_AT_ONCE):
            self._bucket.delete(keys[start : start + _DELETED_AT_ONCE])

    def move(self, source: str, target: str, *, replace: bool) -> None:
        """See `FileSystem.move`; S3 has no rename, so that this copies, a folder file by file."""
        entry = self.info(source)
        if self._is_folder(target):
            raise AlreadyExists(self._bucket.url(target))
        if entry.is_dir:
            self._move_folder(source, target)
            return
        if replace:
            self._copy(entry, target)
        else:
            # Through here, because a copy inside S3 cannot be told to keep what exists.
            self.write(target, self.read(source), replace=False)
        self._bucket.call("delete_object", source)

    def _move_folder(self, source: str, target: str) -> None:
        with contextlib.suppress(PathNotFound):  # the good case: the target is free
            self._bucket.call("head_object", target)
            raise AlreadyExists(self._bucket.url(target))
        for page in self._bucket.pages(source):
            for item in page.get("Contents", ()):
                entry = _file(f"/{item['Key']}", item, "Size")
                self._copy(entry, target + entry.path.removeprefix(source))
        self.remove(source, recursive=True)

    def _copy(self, entry: Entry, target: str) -> None:
        if entry.size > _LARGEST_COPY:
            self.write(target, self.read(entry.path), replace=True)
        else:
            source = {"Bucket": self._bucket.name, "Key": entry.path[1:]}
            self._bucket.call("copy_object", target, CopySource=source)

    def _upload(
        self, path: str, parts: Iterator[bytes], condition: dict[str, str], metadata: dict[str, str]
    ) -> None:
        first = next(parts, b"")
        second = next(parts, None)
        if second is None:
            self._upload_whole(path, first, condition, metadata)
            return
        upload = self._bucket.call("create_multipart_upload", path, Metadata=metadata)["UploadId"]
        try:
            tags = [
                {"PartNumber": number, "ETag": self._upload_part(path, upload, number, part)}
                for number, part in enumerate(itertools.chain((first, second), parts), start=1)
            ]
            self._finish(
                "complete_multipart_upload",
                path,
                UploadId=upload,
                MultipartUpload={"Parts": tags},
                **condition,
            )
        except BaseException as error:
            self._abort(path, upload, error)
            raise

    def _upload_whole(
        self, path: str, data: bytes, condition: dict[str, str], metadata: dict[str, str]
    ) -> None:
        self._finish("put_object", path, Body=data, Metadata=metadata, **condition)
        if not condition or self._keeps_conditions:
            return
        # Once: a server that does not know the condition would overwrite in silence. The same again must fail.
        try:
            self._finish("put_object", path, Body=data, Metadata=metadata, **condition)
        except AlreadyExists:
            self._keeps_conditions = True
        else:
            raise StoreFailed(
                self._bucket.url(path), "this server ignores If-None-Match; no file can be write-once"
            )

    def _abort(self, path: str, upload: str, cause: BaseException) -> None:
        try:
            self._bucket.call("abort_multipart_upload", path, UploadId=upload)
        except OSError as error:
            cause.add_note(f"the upload {upload} of {self._bucket.url(path)} was left behind: {error}")

    def _upload_part(self, path: str, upload: str, number: int, part: bytes) -> str:
        answer = self._bucket.call("upload_part", path, UploadId=upload, PartNumber=number, Body=part)
        return str(answer["ETag"])

    def _finish(self, method: str, path: str, **arguments: object) -> None:
        for _ in range(_CONFLICT_ATTEMPTS - 1):
            try:
                self._bucket.call(method, path, **arguments)
            except StoreFailed as error:
                if code_of(error) != "ConditionalRequestConflict":
                    raise
            else:
                return
        self._bucket.call(method, path, **arguments)

    def _writer_of(self, path: str) -> str | None:
        try:
            writer: str | None = self._bucket.call("head_object", path)["Metadata"].get(_WRITER)
        except PathNotFound:
            return None
        return writer

    def _is_folder(self, path: str) -> bool:
        return bool(next(self._bucket.pages(path, MaxKeys=1)).get("Contents"))

    def _keys_below(self, path: str) -> Iterator[str]:
        for page in self._bucket.pages(path):
            for item in page.get("Contents", ()):
                yield f"/{item['Key']}"


def _parts(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yields the same bytes in parts of the size that S3 wants; nothing if there are none."""
    buffer = bytearray()
    count = 0
    for chunk in chunks:
        buffer += chunk
        size = _PART_BYTES << (count // _PARTS_OF_ONE_SIZE)
        while len(buffer) >= size:
            yield bytes(buffer[:size])
            del buffer[:size]
            count += 1
    if buffer:
        yield bytes(buffer)


def _file(path: str, item: Mapping[str, Any], size: str) -> Entry:
    return Entry(
        name=name_of(path),
        path=path,
        size=item[size],
        is_dir=False,
        modified=item["LastModified"].timestamp(),
    )


def _folder(path: str) -> Entry:
    return Entry(name=name_of(path), path=path, size=0, is_dir=True, modified=0.0)
