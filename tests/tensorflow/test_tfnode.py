from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from hopyard.errors import AlreadyExists, BadArguments
from hopyard.store import Project
from tensorflowonspark.TFSparkNode import TFNodeContext

pytestmark = pytest.mark.tensorflow

v1 = tf.compat.v1
ROWS = np.array([[1.0, 2.0]], dtype="float32")


def held_port() -> socket.socket:
    """Returns a socket that keeps a port from others, as the runtime holds the port of a node."""
    held = socket.socket()
    held.bind(("127.0.0.1", 0))
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    return held


def address(held: socket.socket) -> str:
    return f"127.0.0.1:{held.getsockname()[1]}"


def export_factor(ctx: TFNodeContext, session: Any, export_dir: str) -> None:
    """Exports a graph that multiplies its input with a variable, from a graph that is finalized already."""
    rows = v1.placeholder(tf.float32, [None, 2], name="rows")
    factor = v1.get_variable("factor", initializer=3.0)
    product = tf.multiply(rows, factor, name="product")
    session.run(v1.global_variables_initializer())
    session.graph.finalize()
    signatures = {
        "serving_default": {"inputs": {"rows": rows}, "outputs": {"product": product}},
        "named": {"inputs": {"x": rows}, "outputs": {"y": product}, "method_name": "my/method"},
    }
    ctx.export_saved_model(session, export_dir, "serve,mine", signatures)


def test_servers_of_a_cluster_work_together_while_their_ports_are_held() -> None:
    with held_port() as of_ps, held_port() as of_worker:
        cluster = {"ps": [address(of_ps)], "worker": [address(of_worker)]}
        ps = TFNodeContext(0, "ps", 0, cluster, tmp_socket=of_ps)
        worker = TFNodeContext(1, "worker", 0, cluster, tmp_socket=of_worker)
        _, ps_server = ps.start_cluster_server()
        spec, server = worker.start_cluster_server(num_gpus=1)
    assert spec.as_dict() == cluster
    assert (server.server_def.job_name, server.server_def.task_index) == ("worker", 0)
    assert ps_server.target == f"grpc://{cluster['ps'][0]}"
    with tf.Graph().as_default():
        with tf.device("/job:ps/task:0"):
            shared = v1.get_variable("shared", initializer=20.0)
        with tf.device("/job:worker/task:0"):
            doubled = shared * 2.0
        with v1.Session(server.target) as session:
            session.run(v1.global_variables_initializer())
            assert session.run(doubled) == 40.0


def test_a_server_takes_a_port_that_was_released() -> None:
    held = socket.socket()
    held.bind(("127.0.0.1", 0))
    ctx = TFNodeContext(0, "worker", 0, {"worker": [address(held)]}, tmp_socket=held)
    ctx.release_port()
    _, server = ctx.start_cluster_server()
    assert server.target == f"grpc://{ctx.cluster_spec['worker'][0]}"


def test_a_session_is_exported_with_its_signatures(tmp_path: Path) -> None:
    folder = str(tmp_path / "model")
    with tf.Graph().as_default(), v1.Session() as session:
        export_factor(TFNodeContext(), session, folder)
    with tf.Graph().as_default(), v1.Session() as session:
        graph = v1.saved_model.load(session, ["serve", "mine"], folder)
        product = session.run("product:0", {"rows:0": ROWS})
    np.testing.assert_allclose(product, ROWS * 3)
    assert graph.signature_def["named"].method_name == "my/method"
    assert graph.signature_def["named"].inputs["x"].name == "rows:0"
    assert graph.signature_def["serving_default"].method_name == "serving_default"


def test_a_session_is_exported_once_to_a_place_of_a_store() -> None:
    project = Project.open("memory://tensorflow", "sessions")
    url = project.url("Models/factor")
    with tf.Graph().as_default(), v1.Session() as session:
        export_factor(TFNodeContext(), session, url)
    assert project.exists("Models/factor/saved_model.pb")
    with tf.Graph().as_default(), v1.Session() as session, pytest.raises(AlreadyExists, match="factor"):
        export_factor(TFNodeContext(), session, url)


def test_a_model_without_a_session_is_told_how_to_be_exported(tmp_path: Path) -> None:
    with pytest.raises(BadArguments, match=r"compat\.export_saved_model\(model, export_dir, is_chief=True\)"):
        TFNodeContext().export_saved_model(keras.Sequential(), str(tmp_path / "model"), "serve", {})
