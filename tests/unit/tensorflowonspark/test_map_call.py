"""What a training function finds when it is called on a node."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Callable

import pytest

from hopyard.environment import environment
from hopyard.errors import BadArguments
from hopyard.protocol.node_info import NodeInfo
from tensorflowonspark.map_call import LoneCall, MapCall, bound
from tensorflowonspark.roles import Roles
from tensorflowonspark.TFSparkNode import TFNodeContext

pytestmark = pytest.mark.unit

ADDRESSES = {"chief": ["a:1"], "worker": ["b:1"], "ps": ["c:1"], "evaluator": ["d:1"]}


def seen(roles: Roles, role: str, tf_args: object = None, *, port: int = -1, released: bool = True) -> dict:
    """Returns what a function saw that was called on a node."""
    found: dict = {}

    def map_fun(args: object, ctx: TFNodeContext) -> object:
        found.update(args=args, ctx=ctx, TF_CONFIG=os.environ.get("TF_CONFIG"), argv=sys.argv)
        return map_fun  # no process could send it anywhere

    node(roles, role, port, lambda: call_of(map_fun, tf_args, roles, released)())
    return found


def call_of(map_fun: Callable, tf_args: object, roles: Roles, released: bool = True) -> MapCall:
    return MapCall(
        call=bound(map_fun, tf_args),
        roles=roles,
        default_fs="hdfs://namenode:8020",
        working_dir="/home/user",
        release_port=released,
    )


def node(roles: Roles, role: str, port: int, call: Callable[[], object]) -> None:
    """Calls something as if this process were a node."""
    present = {roles_role: ADDRESSES[roles_role] for roles_role in plan_roles(roles)}
    info = NodeInfo(
        run_id="app/kind/run.1",
        rank=0,
        size=roles.num_executors,
        trainers=1,
        role=role,
        task_index=0,
        logdir="",
        checkpoint_dir="",
        stop_file="",
        port=port,
        cluster=present,
    )
    with environment({**info.to_env(), "TF_CONFIG": ""}):
        os.environ.pop("TF_CONFIG")
        call()


def plan_roles(roles: Roles) -> list[str]:
    return [each.role.value for each in roles.plan().nodes]


ALL = Roles(num_executors=4, num_ps=1, master_node="master", eval_node=True)


def test_context_has_the_old_names_and_numbers():
    ctx = seen(ALL, "chief")["ctx"]
    assert (ctx.job_name, ctx.task_index, ctx.executor_id, ctx.worker_num) == ("master", 0, 1, 1)
    assert ctx.cluster_spec == {"ps": ["c:1"], "master": ["a:1"], "evaluator": ["d:1"], "worker": ["b:1"]}
    assert ctx.num_workers == 2
    assert ctx.absolute_path("/data") == "hdfs://namenode:8020/data"
    assert ctx.working_dir == "/home/user"


def test_tensorflow_is_told_of_a_cluster_with_a_master():
    config = json.loads(seen(ALL, "chief")["TF_CONFIG"])
    assert config["task"] == {"type": "master", "index": 0}
    assert config["cluster"] == {"ps": ["c:1"], "master": ["a:1"], "worker": ["b:1"]}


def test_evaluator_is_told_of_itself_too():
    config = json.loads(seen(ALL, "evaluator")["TF_CONFIG"])
    assert config["task"] == {"type": "evaluator", "index": 0}
    assert config["cluster"]["evaluator"] == ["d:1"]


def test_tensorflow_is_told_nothing_of_a_cluster_without_a_master():
    assert seen(Roles(num_executors=2, num_ps=1), "worker")["TF_CONFIG"] is None


def test_list_of_arguments_is_also_the_command_line(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["pytest"])
    found = seen(ALL, "chief", ["train.py", "--steps", "3"])
    assert found["argv"] == found["args"] == ["train.py", "--steps", "3"]


def test_other_arguments_leave_the_command_line_alone(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["pytest"])
    found = seen(ALL, "chief", {"steps": 3})
    assert (found["args"], found["argv"]) == ({"steps": 3}, ["pytest"])


def test_socket_is_handed_over_only_if_the_port_is_not_to_be_released():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        number = held.getsockname()[1]
        assert seen(ALL, "chief", port=held.fileno())["ctx"].tmp_socket is None
        ctx = seen(ALL, "chief", port=held.detach(), released=False)["ctx"]
        assert ctx.tmp_socket.getsockname()[1] == number
        ctx.release_port()
        assert ctx.tmp_socket is None


def test_what_the_function_returns_goes_nowhere():
    roles = Roles(num_executors=1)
    returned = []
    node(roles, "worker", -1, lambda: returned.append(call_of(lambda args, ctx: "value", None, roles)()))
    assert returned == [None]


def test_lone_node_knows_its_number_and_no_cluster():
    found = []
    lone = LoneCall(
        call=bound(lambda args, ctx: found.append((args, ctx)), "arguments"),
        default_fs="file://",
        first=4,
        num_workers=6,
    )
    node(Roles(num_executors=1), "worker", -1, lone)
    ((args, ctx),) = found
    assert args == "arguments"
    assert (ctx.executor_id, ctx.worker_num, ctx.num_workers) == (4, 4, 6)
    assert (ctx.cluster_spec, ctx.job_name) == ({}, "")


def test_what_is_no_function_is_refused():
    with pytest.raises(BadArguments, match="not a function"):
        bound("train", None)
