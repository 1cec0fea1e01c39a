"""A few bytes beside each batch, on every way that batches go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow
import pytest

from hopyard.wire import Batches, BatchReader, Json, Service, Tagged, WireClient, WireServer

pytestmark = pytest.mark.unit

BATCH = pyarrow.record_batch({"x": pyarrow.array([1, 2, 3], pyarrow.int64())})
ITEMS = [Tagged(BATCH, b"first"), BATCH, Tagged(BATCH, b"end")]
TAGS = [b"first", b"", b"end"]


class InferenceAnswers:
    schema = BATCH.schema

    def __init__(self, items: Iterator[Tagged | pyarrow.RecordBatch]) -> None:
        self._items = items

    def __iter__(self) -> Iterator[Tagged | pyarrow.RecordBatch]:
        return self._items


class Echo(Service):
    def receive(self, stream: str, batches: BatchReader) -> Mapping[str, Json]:
        return {"tags": [item.tag.decode() for item in batches.tagged()]}

    def send(self, stream: str) -> Batches:
        return InferenceAnswers(iter(ITEMS))

    def exchange(self, stream: str, batches: BatchReader) -> Batches:
        return InferenceAnswers(Tagged(item.batch, item.tag) for item in batches.tagged())


@pytest.fixture
def client() -> Iterator[WireClient]:
    with (
        WireServer(Echo(), address="127.0.0.1") as server,
        WireClient(server.endpoint, stream_timeout=10) as wire,
    ):
        yield wire


def test_tags_arrive_with_what_is_put(client: WireClient) -> None:
    assert client.put("any", BATCH.schema, ITEMS) == {"tags": ["first", "", "end"]}


def test_tags_arrive_with_what_is_got(client: WireClient) -> None:
    assert [item.tag for item in client.get("any").tagged()] == TAGS


def test_tags_arrive_with_answers(client: WireClient) -> None:
    assert [item.tag for item in client.exchange("any", BATCH.schema, ITEMS).tagged()] == TAGS
