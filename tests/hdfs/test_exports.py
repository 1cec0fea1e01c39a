from __future__ import annotations

from pathlib import Path

import pytest

from hopyard.store.location import Location
from hopyard.store.registry import connect
from hopyard.testing.mini_hdfs import MiniHDFS
from tensorflowonspark.exports import destination
from tensorflowonspark.TFSparkNode import TFNodeContext

pytestmark = pytest.mark.hdfs


def test_a_model_reaches_the_path_that_a_context_completes(mini_hdfs: MiniHDFS) -> None:
    url = TFNodeContext(defaultFS=mini_hdfs.url).absolute_path("/exports/models/1")
    with destination(url, overwrite=True) as folder:
        (Path(folder) / "variables").mkdir(parents=True)
        (Path(folder) / "saved_model.pb").write_bytes(b"graph")
        (Path(folder) / "variables/variables.index").write_bytes(b"v")
    location = Location.parse(url)
    files = connect(location, {})
    assert b"".join(files.read(f"{location.path}/saved_model.pb")) == b"graph"
    assert b"".join(files.read(f"{location.path}/variables/variables.index")) == b"v"
