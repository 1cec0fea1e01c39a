import http.client
import pickle
import random
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from uuid import uuid4

import pytest

from hopyard.errors import AlreadyExists, StoreFailed
from hopyard.store import Project
from hopyard.testing.journal_contract import StoreJournalContract
from hopyard.testing.s3_server import S3Server
from hopyard.testing.store_contract import StoreContract

pytestmark = pytest.mark.s3

# More than one part of a multipart upload.
LARGE = b"x" * (40 << 20)


def pieces(data: bytes) -> Iterator[bytes]:
    for start in range(0, len(data), 1 << 20):
        yield data[start : start + (1 << 20)]


class TestS3Store(StoreContract):
    has_real_folders = False
    races = 5
    kills = 2
    longest_write = 0.1

    @pytest.fixture
    def project(self, s3_server: S3Server) -> Project:
        root = f"{s3_server.new_bucket()}/some/prefix"
        return Project.open(root, uuid4().hex, storage_options=s3_server.storage_options)


class TestJournalOnS3(StoreJournalContract):
    @pytest.fixture
    def project(self, s3_server: S3Server) -> Project:
        return Project.open(s3_server.new_bucket(), uuid4().hex, storage_options=s3_server.storage_options)


@pytest.fixture
def project(s3_server: S3Server) -> Project:
    return Project.open(s3_server.new_bucket(), "demo", storage_options=s3_server.storage_options)


def test_large_file_is_write_once_too(project: Project) -> None:
    project.write_chunks("large", pieces(LARGE), overwrite=False)
    with pytest.raises(AlreadyExists):
        project.write_chunks("large", pieces(LARGE[1:]), overwrite=False)
    assert project.read("large") == LARGE


def test_folder_of_more_files_than_a_page_is_listed_and_removed_whole(project: Project) -> None:
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda number: project.put(f"many/{number:04d}", b""), range(1005)))
    assert len(project.list("many")) == 1005
    project.remove("many", recursive=True)
    assert not project.exists("many")


def test_missing_bucket_is_named(s3_server: S3Server) -> None:
    project = Project.open("s3://no-such-bucket", "demo", storage_options=s3_server.storage_options)
    with pytest.raises(StoreFailed, match="bucket"):
        project.put("file", b"")


def test_folder_whose_last_file_is_removed_is_gone(project: Project) -> None:
    project.put("folder/file", b"")
    project.remove("folder/file")
    assert not project.exists("folder")


class Relay(ThreadingHTTPServer):
    """Stands between a client and an S3 server, and does what networks and other servers do."""

    def __init__(self, target: str) -> None:
        super().__init__(("127.0.0.1", 0), RelayHandler)
        self.target = target.removeprefix("http://")
        self.forgets_conditions = False
        self.answers_to_lose = 0
        self.contents_to_cut = 0
        self.when_cut: Callable[[], object] = lambda: None


class RelayHandler(BaseHTTPRequestHandler):
    server: Relay
    protocol_version = "HTTP/1.1"  # else the client waits for a "100 Continue"

    def relay(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = dict(self.headers.items())
        headers.pop("Expect", None)
        if self.server.forgets_conditions:
            headers.pop("If-None-Match", None)
        server = http.client.HTTPConnection(self.server.target)
        server.request(self.command, self.path, body, headers)
        answer = server.getresponse()
        content = answer.read()
        server.close()
        if self.command == "PUT" and self.server.answers_to_lose:
            self.server.answers_to_lose -= 1
            self.close_connection = True
            return
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("transfer-encoding", "connection", "content-length"):
                self.send_header(name, value)
        length = answer.getheader("Content-Length") if self.command == "HEAD" else len(content)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        if self.command == "GET" and self.server.contents_to_cut:
            self.server.contents_to_cut -= 1
            self.server.when_cut()
            content, self.close_connection = content[: len(content) // 2], True
        self.wfile.write(content)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = relay  # noqa: N815  their names are given

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture
def relay(s3_server: S3Server) -> Iterator[Relay]:
    with Relay(s3_server.endpoint_url) as relay:
        thread = threading.Thread(target=relay.serve_forever)
        thread.start()
        yield relay
        relay.shutdown()
        thread.join()


@pytest.fixture
def relayed(s3_server: S3Server, relay: Relay) -> Project:
    options = {**s3_server.storage_options, "endpoint_url": f"http://127.0.0.1:{relay.server_port}"}
    return Project.open(s3_server.new_bucket(), "demo", storage_options=options)


def test_server_that_ignores_conditions_is_found_out(relayed: Project, relay: Relay) -> None:
    relay.forgets_conditions = True
    relayed.put("put", b"needs no condition")
    with pytest.raises(StoreFailed, match="If-None-Match"):
        relayed.create("created", b"")


def test_file_whose_answer_got_lost_is_not_taken_for_another_writers(relayed: Project, relay: Relay) -> None:
    relayed.create("first", b"")
    relay.answers_to_lose = 1
    relayed.create("second", b"mine")
    assert relay.answers_to_lose == 0
    assert relayed.read("second") == b"mine"
    with pytest.raises(AlreadyExists):
        relayed.create("second", b"other")


def test_reading_goes_on_where_a_connection_broke(relayed: Project, relay: Relay) -> None:
    content = random.Random(3).randbytes(10_000_000)
    relayed.put("file", content)
    relay.contents_to_cut = 3
    assert relayed.read("file") == content
    assert relay.contents_to_cut == 0


def test_half_a_content_is_never_given_out_as_the_whole(relayed: Project, relay: Relay) -> None:
    relayed.put("file", b"x" * 10_000_000)
    relay.contents_to_cut = 1000
    with pytest.raises(StoreFailed):
        relayed.read("file")


def test_halves_of_two_contents_are_never_joined(relayed: Project, relay: Relay) -> None:
    relayed.put("file", b"x" * 10_000_000)
    relay.contents_to_cut = 1
    relay.when_cut = lambda: pickle.loads(pickle.dumps(relayed)).put("file", b"y" * 10_000_000)
    with pytest.raises(StoreFailed, match="replaced"):
        relayed.read("file")


def test_server_that_does_not_answer_is_an_error_of_the_store(s3_server: S3Server) -> None:
    once = {"retries": {"total_max_attempts": 1}}
    options = {**s3_server.storage_options, "endpoint_url": "http://127.0.0.1:1", "config_kwargs": once}
    project = Project.open("s3://bucket", "demo", storage_options=options)
    with pytest.raises(StoreFailed, match=r"127\.0\.0\.1:1"):
        project.put("file", b"")
