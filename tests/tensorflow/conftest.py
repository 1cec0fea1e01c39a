from __future__ import annotations

import io
import json
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterable

import pytest
from tensorboard.compat.proto import event_pb2, summary_pb2
from tensorboard.summary.writer.record_writer import RecordWriter

Scalars = Callable[[str, str, int], list[float]]


def event_bytes(values: Iterable[float]) -> bytes:
    """The content of an event file with a scalar "loss"; made without TensorFlow, whose import takes seconds."""
    buffer = io.BytesIO()
    writer = RecordWriter(buffer)
    writer.write(event_pb2.Event(file_version="brain.Event:2", wall_time=1.0).SerializeToString())
    for step, number in enumerate(values):
        value = summary_pb2.Summary.Value(tag="loss", simple_value=number)
        event = event_pb2.Event(step=step, wall_time=1.0 + step, summary=summary_pb2.Summary(value=[value]))
        writer.write(event.SerializeToString())
    return buffer.getvalue()


def wait_for_scalars(url: str, run: str, count: int, *, within_seconds: float = 30.0) -> list[float]:
    """Returns the values of "loss" as TensorBoard's own pages would get them, once there are `count`."""
    query = urllib.parse.urlencode({"run": run, "tag": "loss"})
    deadline = time.monotonic() + within_seconds
    while True:
        with urllib.request.urlopen(f"{url}data/plugin/scalars/tags", timeout=10) as answer:
            known = json.load(answer)
        points = []
        if run in known:
            with urllib.request.urlopen(f"{url}data/plugin/scalars/scalars?{query}", timeout=10) as answer:
                points = json.load(answer)
        if len(points) >= count:
            return [value for _, _, value in points]
        assert time.monotonic() < deadline, f"{len(points)} of {count} points of {run!r}; runs: {list(known)}"
        time.sleep(0.1)


@pytest.fixture(scope="session")
def events() -> Callable[[Iterable[float]], bytes]:
    return event_bytes


@pytest.fixture(scope="session")
def scalars() -> Scalars:
    return wait_for_scalars
