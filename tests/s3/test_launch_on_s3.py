"""A run whose project is a bucket: the nodes' own processes reach it with the driver's storage options."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import hopyard
from hopyard.tracking import RunReader

if TYPE_CHECKING:
    from hopyard.testing.s3_server import S3Server

pytestmark = pytest.mark.s3


def train(ctx: hopyard.NodeContext) -> str:
    print(f"node {ctx.rank} of {ctx.size}")
    ctx.report(1, loss=0.5)
    Path(ctx.logdir, "model.bin").write_bytes(b"weights")
    ctx.project.put(f"Resources/from-{ctx.rank}", b"reached")
    return ctx.path("Resources")


def test_log_metrics_files_and_data_of_every_node_are_in_the_bucket(s3_server: S3Server) -> None:
    bucket = s3_server.new_bucket()
    project = hopyard.Project.open(bucket, "vineyard", storage_options=s3_server.storage_options)
    result = hopyard.launch(train, nodes=2, backend="processes", project=project)
    run = RunReader(project, result.run_id)
    folder = project.relative(result.logdir)
    assert result.value == f"{bucket}/Projects/vineyard/Resources"
    assert [list(run.log(rank)) for rank in (0, 1)] == [["node 0 of 2"], ["node 1 of 2"]]
    assert [(point.rank, point.value) for point in run.metrics("loss")] == [(0, 0.5), (1, 0.5)]
    assert project.read(f"{folder}/model.bin") == project.read(f"{folder}/node.1/model.bin") == b"weights"
    assert project.read("Resources/from-0") == project.read("Resources/from-1") == b"reached"


def fetched(model: str, ctx: hopyard.NodeContext) -> bytes:
    return Path(ctx.fetch(model)).read_bytes()


def test_a_later_run_gets_the_model_of_an_earlier_one_from_the_bucket(s3_server: S3Server) -> None:
    project = hopyard.Project.open(
        s3_server.new_bucket(), "vineyard", storage_options=s3_server.storage_options
    )
    hopyard.launch(train, backend="processes", project=project, name="earlier")
    model = hopyard.load_run("earlier", project).path("model.bin")
    assert model.startswith("s3://")
    assert hopyard.launch(fetched, (model,), backend="processes", project=project).value == b"weights"
