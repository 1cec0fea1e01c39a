from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import hopyard
from hopyard.control.gang import Timeouts
from hopyard.errors import BadArguments, HopyardError, InvalidDevices, InvalidPlan, InvalidPorts
from hopyard.frameworks.registry import NAMES
from hopyard.run.options import TrainSpec
from hopyard.worker.gpus.request import DeviceRequest
from hopyard.worker.ports import ANY_PORT

pytestmark = pytest.mark.unit


def spec(nodes: int = 4, **options: Any) -> TrainSpec:
    return TrainSpec.of(nodes, options)  # type: ignore[arg-type]


def test_without_options_a_run_is_as_the_documentation_says() -> None:
    usual = spec()
    assert usual.timeouts == Timeouts(start=600.0, lease=30.0, progress=None, grace=30.0)
    assert (usual.max_restarts, usual.on_driver, usual.stream_logs, usual.tensorboard) == (
        0,
        False,
        False,
        False,
    )
    assert usual.ports == ANY_PORT


def test_options_become_a_checked_specification() -> None:
    chosen = spec(
        4,
        ps=1,
        evaluator=True,
        timeout=90,
        start_timeout=60,
        lease_seconds=5,
        grace_seconds=0,
        max_restarts=2,
        ports=range(8000, 8002),
        driver_ps_nodes=True,
        stream_logs=True,
        tensorboard="chief",
        gpus_per_node=2,
    )
    assert [node.role.value for node in chosen.plan.nodes] == ["chief", "worker", "ps", "evaluator"]
    assert chosen.timeouts == Timeouts(start=60.0, lease=5.0, progress=90.0, grace=0.0)
    assert (chosen.max_restarts, chosen.ports) == (2, (8000, 8001))
    assert (chosen.on_driver, chosen.stream_logs, chosen.tensorboard) == (True, True, "chief")


def test_only_those_who_train_get_gpus() -> None:
    chosen = spec(3, ps=1, gpus_per_node=2)
    chief, worker, ps = chosen.plan.nodes
    assert (chosen.devices(chief), chosen.devices(worker)) == (DeviceRequest(gpus=2), DeviceRequest(gpus=2))
    assert chosen.devices(ps) == DeviceRequest(gpus=0)


def test_tensorflow_is_told_of_a_cluster_only_if_there_is_one() -> None:
    assert (spec(1).frameworks, spec(2).frameworks) == ((), NAMES)


SECONDS = ("timeout", "start_timeout", "lease_seconds", "grace_seconds")
WRONG: list[tuple[dict[str, Any], type[HopyardError], str]] = [
    *[
        ({name: -1}, InvalidPlan, f"{name}=-1 is not valid: give a number of seconds, at least")
        for name in SECONDS
    ],
    *[({name: "60"}, InvalidPlan, f"{name}='60' is not valid: give a number") for name in SECONDS],
    *[({name: True}, InvalidPlan, f"{name}=True is not valid: give a number") for name in SECONDS],
    *[({name: float("nan")}, InvalidPlan, f"{name}=nan is not valid: give a number") for name in SECONDS],
    *[({name: float("inf")}, InvalidPlan, f"{name}=inf is not valid: give a number") for name in SECONDS],
    *[({name: None}, InvalidPlan, f"{name}=None is not valid: give a number") for name in SECONDS[1:]],
    (
        {"lease_seconds": 0.5},
        InvalidPlan,
        "lease_seconds=0.5 is not valid: give a number of seconds, at least 1",
    ),
    (
        {"start_timeout": 0},
        InvalidPlan,
        "start_timeout=0 is not valid: give a number of seconds, at least 0.1",
    ),
    ({"timeout": 0}, InvalidPlan, "timeout=0 is not valid: give a number of seconds, at least 0.1"),
    ({"max_restarts": -1}, InvalidPlan, "max_restarts=-1 is not valid: give a whole number of at least 0"),
    ({"max_restarts": 1.5}, InvalidPlan, "max_restarts=1.5 is not valid: give a whole number"),
    ({"max_restarts": None}, InvalidPlan, "max_restarts=None is not valid: give a whole number"),
    ({"ps": 4}, InvalidPlan, "no node is left to train"),
    ({"evaluator": 2}, InvalidPlan, "evaluator=2 is not valid: give True or False"),
    ({"chief": "yes"}, InvalidPlan, "chief='yes' is not valid: give True or False"),
    ({"driver_ps_nodes": 1}, InvalidPlan, "driver_ps_nodes=1 is not valid: give True or False"),
    ({"stream_logs": "no"}, InvalidPlan, "stream_logs='no' is not valid: give True or False"),
    (
        {"tensorboard": "worker"},
        InvalidPlan,
        "tensorboard='worker' is not valid: give True, False, 'driver' or 'chief'",
    ),
    ({"tensorboard_host": None}, InvalidPlan, "tensorboard_host=None is not valid: give an address"),
    ({"ports": []}, InvalidPorts, r"\[\] cannot be used as ports"),
    ({"ports": [70000]}, InvalidPorts, r"\[70000\] cannot be used as ports"),
    ({"ports": 8000}, InvalidPorts, "8000 cannot be used as ports"),
    ({"gpus_per_node": -1}, InvalidDevices, "gpus_per_node=-1"),
    ({"gpu_fraction": 1.5}, InvalidDevices, "gpu_fraction=1.5"),
    ({"gpus_per_node": 2, "gpu_fraction": 0.5}, InvalidDevices, "leave gpus_per_node=2 out"),
]


@pytest.mark.parametrize(("options", "error", "words"), WRONG, ids=[words for *_, words in WRONG])
def test_what_makes_no_sense_is_refused_in_a_sentence(
    options: dict[str, Any], error: type[HopyardError], words: str
) -> None:
    with pytest.raises(error, match=words) as caught:
        spec(4, **options)
    assert str(caught.value).endswith(".")


def train(rate: float = 0.1) -> None:
    """Does nothing with its rate."""


UNKNOWN = [
    ("max_restart", "use 'max_restarts'"),
    ("num_nodes", "use 'nodes'"),
    ("num_workers", "use 'nodes'"),
    ("num_executors", "use 'nodes'"),
    ("gpus", "use 'gpus_per_node'"),
    ("tf_args", "use 'args'"),
    ("n_epochs", "your function counts its epochs, or cluster.train(data, epochs=...) does where it is fed"),
    ("rate", "give it to your function with args={'rate': ...}"),
    ("xyzzy", "see help(hopyard.launch)"),
]


@pytest.mark.parametrize("call", [hopyard.launch, hopyard.Cluster])
@pytest.mark.parametrize(("name", "remedy"), UNKNOWN)
def test_an_option_that_there_is_none_of_names_the_right_one(
    call: Callable[..., object], name: str, remedy: str
) -> None:
    with pytest.raises(BadArguments) as caught:
        call(train, ps=1, **{name: 2})
    remedy = remedy.replace("help(hopyard.launch)", f"help(hopyard.{call.__name__})")
    assert (
        str(caught.value) == f"wrong arguments for {call.__name__}(): there is no option {name!r}; {remedy}."
    )
