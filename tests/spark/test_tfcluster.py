"""Programs of TensorFlowOnSpark that read their own data, on executors."""

from __future__ import annotations

import argparse
import json
import os
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from hopyard.errors import NodeFailed, NoProgress, NotEnoughSlots
from hopyard.testing.watching import wait_until
from tensorflowonspark import TFCluster, TFParallel
from tensorflowonspark.TFSparkNode import TFNodeContext

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def note(args: argparse.Namespace, ctx: TFNodeContext) -> None:
    """Leaves what the node knows in a file of its own."""
    known = {
        "job": f"{ctx.job_name}:{ctx.task_index}",
        "spec": ctx.cluster_spec,
        "workers": ctx.num_workers,
        "path": ctx.absolute_path("model"),
        "TF_CONFIG": json.loads(os.environ.get("TF_CONFIG", "null")),
        "cwd": os.getcwd(),
    }
    Path(args.output, f"{ctx.executor_id}.json").write_text(json.dumps(known))


def note_and_serve(args: argparse.Namespace, ctx: TFNodeContext) -> None:
    note(args, ctx)
    if ctx.job_name in ("ps", "evaluator"):
        threading.Event().wait()  # as server.join() does
    # those that serve are ended as soon as the others are done, so these wait until all have left their notes
    size = sum(map(len, ctx.cluster_spec.values()))
    wait_until(lambda: len(list(Path(args.output).glob("*.json"))) == size, "all nodes have left notes", 60)


def fail(args: object, ctx: TFNodeContext) -> None:
    print("before the end")
    if ctx.task_index == 1:
        raise ValueError("no such data")
    threading.Event().wait()


def fail_after_training(args: argparse.Namespace, ctx: TFNodeContext) -> None:
    note(args, ctx)
    if ctx.task_index == 1:
        for _ in range(1000):
            if Path(args.output, "0.json").exists():
                break
            time.sleep(0.01)
        raise RuntimeError("export failed")


def hold_port(args: argparse.Namespace, ctx: TFNodeContext) -> None:
    import socket

    assert ctx.tmp_socket is not None
    port = ctx.tmp_socket.getsockname()[1]
    with socket.socket() as other, pytest.raises(OSError, match="in use"):
        other.bind(("0.0.0.0", port))
    ctx.release_port()
    assert ctx.tmp_socket is None
    with socket.socket() as other:
        other.bind(("0.0.0.0", port))


def write_events(args: argparse.Namespace, ctx: TFNodeContext) -> None:
    from tensorboard.summary import Writer

    writer = Writer(args.log_dir)
    writer.add_scalar("loss", 0.25, step=1)
    writer.close()
    while not Path(args.log_dir, "seen").exists():
        time.sleep(0.05)


def be_silent(args: object, ctx: TFNodeContext) -> None:
    threading.Event().wait()


def speak(args: object, ctx: TFNodeContext) -> None:
    for step in range(20):
        print("step", step)
        time.sleep(0.2)


@pytest.fixture
def args(tmp_path: Path) -> argparse.Namespace:
    folder = tmp_path / "output"
    folder.mkdir()
    return argparse.Namespace(output=str(folder), log_dir=str(tmp_path / "model"))


def notes(args: argparse.Namespace) -> dict[int, dict]:
    return {int(file.stem): json.loads(file.read_text()) for file in Path(args.output).glob("*.json")}


def test_a_function_runs_on_all_nodes_with_its_arguments_and_context(spark: SparkSession, args) -> None:
    cluster = TFCluster.run(spark.sparkContext, note, args, 2, 0, master_node="chief")
    info = cluster.cluster_info
    cluster.shutdown()
    known = notes(args)
    assert {number: node["job"] for number, node in known.items()} == {0: "chief:0", 1: "worker:0"}
    spec = {node["job_name"]: [f"{node['host']}:{node['port']}"] for node in info}
    assert [node["spec"] for node in known.values()] == [spec, spec]
    assert known[1]["TF_CONFIG"]["cluster"] == spec
    assert known[1]["TF_CONFIG"]["task"] == {"type": "worker", "index": 0}
    assert {node["path"] for node in known.values()} == {f"file://{os.getcwd()}/model"}
    assert {node["workers"] for node in known.values()} == {2}


def test_a_cluster_tells_of_itself_under_the_old_names(spark: SparkSession, args) -> None:
    sc = spark.sparkContext
    cluster = TFCluster.run(sc, note, args, 2, 0)
    cluster.shutdown()
    assert [node["executor_id"] for node in cluster.cluster_info] == [0, 1]
    assert {node["job_name"] for node in cluster.cluster_info} == {"worker"}
    assert cluster.meta["cluster_template"] == {"worker": [0, 1]}
    assert (cluster.sc, cluster.input_mode) == (sc, TFCluster.InputMode.TENSORFLOW)
    assert cluster.queues == ["input", "output", "error"]
    assert cluster.nodeRDD.collect() == [0, 1]
    assert cluster.tensorboard_url() is None


def test_parameter_servers_end_when_the_workers_are_done(spark: SparkSession, args) -> None:
    cluster = TFCluster.run(spark.sparkContext, note_and_serve, args, 2, 1)
    cluster.shutdown()
    cluster.shutdown()
    assert {number: node["job"] for number, node in notes(args).items()} == {0: "ps:0", 1: "worker:0"}
    assert {node["TF_CONFIG"] for node in notes(args).values()} == {None}


def test_parameter_servers_beside_the_driver_leave_the_executors_to_the_workers(
    spark: SparkSession, args
) -> None:
    cluster = TFCluster.run(spark.sparkContext, note_and_serve, args, 3, 1, driver_ps_nodes=True)
    cluster.shutdown()
    known = notes(args)
    assert [known[number]["job"] for number in range(3)] == ["ps:0", "worker:0", "worker:1"]
    assert known[0]["cwd"] == os.getcwd()


def test_an_evaluator_that_never_ends_is_ended_after_the_training(spark: SparkSession, args) -> None:
    cluster = TFCluster.run(
        spark.sparkContext, note_and_serve, args, 2, 0, master_node="master", eval_node=True
    )
    cluster.shutdown()
    known = notes(args)
    assert [known[number]["job"] for number in range(2)] == ["master:0", "evaluator:0"]
    assert list(known[0]["TF_CONFIG"]["cluster"]) == ["master"]


def test_an_exception_is_raised_by_shutdown_and_spark_goes_on(spark: SparkSession) -> None:
    began = time.monotonic()
    with pytest.raises(NodeFailed, match="no such data") as failed:
        TFCluster.run(spark.sparkContext, fail, {}, 2, 0).shutdown()
    assert time.monotonic() - began < 60
    assert "before the end" in failed.value.tail
    assert 'raise ValueError("no such data")' in failed.value.trace
    assert spark.range(3).count() == 3


def test_an_exception_after_the_training_is_raised_every_time(spark: SparkSession, args) -> None:
    cluster = TFCluster.run(spark.sparkContext, fail_after_training, args, 2, 0)
    for _ in range(2):
        with pytest.raises(NodeFailed, match="export failed"):
            cluster.shutdown(grace_secs=5)


def test_shutdown_may_be_called_from_any_thread(spark: SparkSession, args) -> None:
    cluster = TFCluster.run(spark.sparkContext, note, args, 2, 0)
    caller = threading.Thread(target=cluster.shutdown)
    caller.start()
    caller.join(60)
    assert not caller.is_alive()
    assert len(notes(args)) == 2


def test_silent_nodes_are_ended_after_the_timeout(spark: SparkSession) -> None:
    cluster = TFCluster.run(spark.sparkContext, be_silent, {}, 2, 0)
    with pytest.raises(NoProgress, match="for 1 s"):
        cluster.shutdown(timeout=1)


def test_nodes_that_say_something_are_not_timed_out(spark: SparkSession) -> None:
    cluster = TFCluster.run(spark.sparkContext, speak, {}, 1, 0)
    cluster.shutdown(timeout=2)


def test_a_port_may_be_held_until_the_function_lets_go_of_it(spark: SparkSession, args) -> None:
    cluster = TFCluster.run(
        spark.sparkContext, hold_port, args, 2, 0, master_node="chief", release_port=False
    )
    cluster.shutdown()


def test_nodes_and_driver_keep_to_the_ports_of_the_environment(
    spark: SparkSession, args, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TFOS_SERVER_HOST", "localhost")
    monkeypatch.setenv("TFOS_SERVER_PORT", "28870-28879")
    monkeypatch.setenv("TENSORFLOW_PORT", "28880-28889")
    cluster = TFCluster.run(spark.sparkContext, note_and_serve, args, 2, 1)
    listening = psutil.Process().net_connections()
    cluster.shutdown()
    assert any(28870 <= each.laddr.port <= 28879 for each in listening if each.status == "LISTEN")
    assert all(28880 <= node["port"] <= 28889 for node in cluster.cluster_info)


def test_tensorboard_shows_the_log_folder_while_the_cluster_runs(spark: SparkSession, args) -> None:
    cluster = TFCluster.run(
        spark.sparkContext, write_events, args, 1, 0, tensorboard=True, log_dir=args.log_dir
    )
    url = cluster.tensorboard_url()
    assert url is not None
    deadline = time.monotonic() + 30
    while "loss" not in (shown := read(f"{url}data/plugin/scalars/tags")):
        assert time.monotonic() < deadline, shown
        time.sleep(0.1)
    assert cluster.cluster_info[0]["tb_port"] == int(url.rstrip("/").rpartition(":")[2])
    Path(args.log_dir, "seen").touch()
    cluster.shutdown()
    assert cluster.tensorboard_url() == url
    with pytest.raises(urllib.error.URLError):
        read(url)


def read(url: str) -> str:
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read().decode()


def test_more_nodes_than_slots_are_refused_at_once(spark: SparkSession) -> None:
    with pytest.raises(NotEnoughSlots, match="needs 3 slots, this Spark has 2"):
        TFCluster.run(spark.sparkContext, be_silent, {}, 3, 0)


def test_a_reserved_cluster_is_started_afterwards(spark: SparkSession, args) -> None:
    cluster = TFCluster.reserve(spark.sparkContext, 2, 0)
    assert cluster.cluster_info == []
    cluster.start(note, args)
    cluster.shutdown()
    assert sorted(notes(args)) == [0, 1]


def test_independent_nodes_know_their_numbers_and_no_cluster(spark: SparkSession, args) -> None:
    assert TFParallel.run(spark.sparkContext, note, args, 2) is None
    known = notes(args)
    assert sorted(known) == [0, 1]
    assert [(node["workers"], node["spec"], node["TF_CONFIG"]) for node in known.values()] == [
        (2, {}, None)
    ] * 2


def test_independent_nodes_run_in_lots_where_slots_are_too_few(spark: SparkSession, args) -> None:
    TFParallel.run(spark.sparkContext, note, args, 3, use_barrier=False)
    assert sorted(notes(args)) == [0, 1, 2]


def test_independent_nodes_that_have_to_run_together_are_refused_where_slots_are_too_few(
    spark: SparkSession, args
) -> None:
    with pytest.raises(NotEnoughSlots):
        TFParallel.run(spark.sparkContext, note, args, 3)


def test_an_independent_node_that_fails_is_raised(spark: SparkSession, args) -> None:
    with pytest.raises(NodeFailed, match="AttributeError"):
        TFParallel.run(spark.sparkContext, note, {}, 2)
