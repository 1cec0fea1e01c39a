"""What a run can be asked to be, and the checked values that come of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self, TypedDict, cast

from hopyard.control.gang import Timeouts
from hopyard.errors import InvalidPlan
from hopyard.frameworks.registry import NAMES
from hopyard.protocol.plan import Node, Plan
from hopyard.run.option_names import OptionNames
from hopyard.run.shared_options import first_wrong
from hopyard.tensorboard.live import LOOPBACK
from hopyard.worker.gpus.request import DeviceRequest
from hopyard.worker.ports import ANY_PORT, check_ports
from hopyard.worker.task import Companion

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    from hopyard.backends.base import Backend
    from hopyard.store import Project


LEAST_SECONDS = 0.1
LEAST_LEASE_SECONDS = 1.0  # some heartbeats have to fit in
_ELSEWHERE = {  # what other libraries call the options
    "nodes": "num_nodes n_nodes num_workers n_workers workers num_executors n_executors executors cluster_size "
    "num_processes n_processes processes nproc nproc_per_node nnodes world_size np num_proc",
    "args": "tf_args kwargs arguments fn_args params config train_loop_config",
    "ps": "num_ps n_ps ps_nodes num_ps_tasks ps_tasks parameter_servers",
    "evaluator": "eval_node eval evaluators",
    "chief": "master_node master",
    "gpus_per_node": "num_gpus gpus n_gpus gpus_per_worker gpus_per_trial use_gpu",
    "max_restarts": "retries max_failures max_retries restarts",
    "start_timeout": "reservation_timeout start_timeout_seconds reserve_timeout_seconds",
    "timeout": "timeout_seconds",
    "feed": "input_mode",
    "progress": "verbose progress_bar show_progress_bar",
    "name": "run_name app_name experiment_name",
    "spark": "sc spark_session spark_context",
    "project": "storage storage_path local_dir",
    "epochs": "n_epochs num_epochs max_epochs",
}
_EPOCHS = "your function counts its epochs, or cluster.train(data, epochs=...) does where it is fed"


class RunOptions(TypedDict, total=False):
    """The keyword arguments of `hopyard.launch` and `hopyard.Cluster`, all of them optional.

    Attributes:
        ps: How many of the nodes are parameter servers. The chief is their coordinator then, the workers
            serve it, and the run is done when the chief has returned.
        evaluator: Whether one of the nodes evaluates beside the training.
        chief: Whether rank 0 is called chief; otherwise it is worker 0.
        driver_ps_nodes: Whether parameter servers and evaluator run beside the driver, not on executors.
        gpus_per_node: GPUs of each node that trains, its own; by default those that Spark gives its task.
        gpu_fraction: Share of one GPU for each node that trains, such as 0.1; it also limits the memory
            that TensorFlow, torch and JAX take.
        max_restarts: How often the whole run is started again after a node failed; what the nodes saved in
            ``ctx.checkpoint_dir`` is there again.
        timeout: Seconds in which no node prints or reports anything, after which the run is ended; no
            limit by default.
        start_timeout: Seconds in which all nodes have to arrive; 600 by default.
        lease_seconds: Seconds without a word from a node, or from the driver, until it counts as lost; 30
            by default.
        grace_seconds: Seconds that the evaluator has to end once the training is done; 30 by default.
        ports: Ports that nodes may take, such as ``range(8000, 8010)``; any free one by default.
        tensorboard: Show the run in a TensorBoard while it goes on: True beside the driver, ``"chief"`` beside
            rank 0. Its address is logged, in the run's record (``hopyard runs``), and in `Cluster.tensorboard_url`.
        tensorboard_host: The address that it listens on; ``"0.0.0.0"`` lets other machines in, without a password.
        feed: Whether the nodes are fed by `Cluster.train` and `Cluster.inference`. They then leave their Spark tasks,
            so that there are slots for the tasks that feed them.
        tls: Whether all connections of the run are encrypted; by default as HOPYARD_TLS says (1 or 0), else if Spark
            encrypts its own. It needs ``pip install 'hopyard[tls]'`` on the driver and, for nodes that are fed, on
            executors.
        stream_logs: Whether the nodes' output appears at the driver, too, each line after its node.
        progress: Whether a table of the nodes is shown while they run; by default on a terminal and in a
            notebook.
        name: A name for the run, of 1 to 100 characters; that of the function if not given.
        spark: The session to run on; the active one if not given.
        backend: ``"spark"`` (the default), ``"processes"`` (this machine, no Spark) or ``"inline"`` (this process,
            for debugging).
        project: Where the run is kept; `Project.open` with its defaults if not given.
        kind: The folder that groups runs of this kind.
        description: Free text that is kept with the run.
    """

    ps: int
    evaluator: bool
    chief: bool
    driver_ps_nodes: bool
    gpus_per_node: int | None
    gpu_fraction: float | None
    max_restarts: int
    timeout: float | None
    start_timeout: float
    lease_seconds: float
    grace_seconds: float
    ports: Sequence[int] | None
    tensorboard: bool | str
    tensorboard_host: str
    feed: bool
    tls: bool | None
    stream_logs: bool
    progress: bool | None
    name: str | None
    spark: SparkSession | SparkContext | None
    backend: str | Backend | None
    project: Project | None
    kind: str
    description: str


def run_options(
    *,
    ps: int = 0,
    evaluator: bool = False,
    chief: bool = True,
    driver_ps_nodes: bool = False,
    gpus_per_node: int | None = None,
    gpu_fraction: float | None = None,
    max_restarts: int = 0,
    timeout: float | None = None,
    start_timeout: float = 600.0,
    lease_seconds: float = 30.0,
    grace_seconds: float = 30.0,
    ports: Sequence[int] | None = None,
    tensorboard: bool | str = False,
    tensorboard_host: str = LOOPBACK,
    feed: bool = False,
    tls: bool | None = None,
    stream_logs: bool = False,
    progress: bool | None = None,
    name: str | None = None,
    spark: SparkSession | SparkContext | None = None,
    backend: str | Backend | None = None,
    project: Project | None = None,
    kind: str = "launcher",
    description: str = "",
) -> RunOptions:
    """Returns all options of a run, with the usual value of those that are not given; see `RunOptions`.

    Editors complete the options of `launch` and `Cluster` because both hand their ``**options`` to this function:
    jedi follows them here and does not know a `TypedDict` that is unpacked.
    """
    return cast(RunOptions, locals())


def check_names(options: RunOptions, fn: object, *, call: str) -> None:
    """Checks that a run has options of these names.

    Args:
        options: What a user gave by name.
        fn: The user's function.
        call: What the user called: ``launch`` or ``Cluster``.

    Raises:
        BadArguments: It has not; the error names the option that is meant.
    """
    names = OptionNames(
        call=call,
        known=RunOptions.__optional_keys__ | {"nodes", "args"},
        elsewhere={word: option for option, words in _ELSEWHERE.items() for word in words.split()},
        instead={"epochs": _EPOCHS},
        own="give it to your function with args={{{0!r}: ...}}",
    )
    names.check(options, fn)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainSpec:
    """How the nodes of a run are to be run, checked.

    Attributes:
        plan: The nodes, and whom the run waits for.
        timeouts: How long to wait for what.
        trainer_devices: The GPUs of each node that trains.
        ports: The ports that nodes may take.
        max_restarts: How often the whole run is started again.
        on_driver: Whether parameter servers and evaluator run beside the driver.
        feed: Whether the nodes are fed by the driver.
        tls: Whether all connections are encrypted; None if the user does not say.
        stream_logs: Whether the nodes' output appears at the driver.
        tensorboard: Whether and where a TensorBoard shows the run.
        frameworks: Those that are told of the cluster, by name.
        tensorboard_host: The address that the TensorBoard beside the chief listens on.
        companions: What runs beside rank 0.
        driver_address: Where nodes find the driver; None to find out.
        driver_ports: The ports that the driver may listen on.
    """

    plan: Plan
    timeouts: Timeouts
    trainer_devices: DeviceRequest
    ports: tuple[int, ...] = ANY_PORT
    max_restarts: int = 0
    on_driver: bool = False
    feed: bool = False
    tls: bool | None = None
    stream_logs: bool = False
    tensorboard: bool | str = False
    frameworks: tuple[str, ...] = ()
    tensorboard_host: str = LOOPBACK
    companions: tuple[Companion, ...] = ()
    driver_address: str | None = None
    driver_ports: tuple[int, ...] = ANY_PORT

    @classmethod
    def of(cls, nodes: int, options: RunOptions) -> Self:
        """Returns the specification that a user's arguments make.

        Raises:
            InvalidPlan: Numbers do not fit together, or are out of their range.
            InvalidDevices: The GPUs asked for make no sense.
            InvalidPorts: The ports are none.
        """
        if wrong := first_wrong(options):
            raise InvalidPlan(wrong.given, wrong.remedy)
        plan = Plan.of(
            nodes,
            ps=options.get("ps", 0),
            evaluator=options.get("evaluator", False),
            chief=options.get("chief", True),
        )
        usual = Timeouts()
        timeouts = Timeouts(
            start=_seconds(options, "start_timeout", usual.start, least=LEAST_SECONDS),
            lease=_seconds(options, "lease_seconds", usual.lease, least=LEAST_LEASE_SECONDS),
            progress=None
            if options.get("timeout") is None
            else _seconds(options, "timeout", 0.0, least=LEAST_SECONDS),
            grace=_seconds(options, "grace_seconds", usual.grace, least=0.0),
        )
        restarts = options.get("max_restarts", 0)
        if type(restarts) is not int or restarts < 0:
            raise InvalidPlan(f"max_restarts={restarts!r}", "give a whole number of at least 0")
        tensorboard = options.get("tensorboard", False)
        if tensorboard not in (True, False, "chief", "driver"):
            raise InvalidPlan(f"tensorboard={tensorboard!r}", "give True, False, 'driver' or 'chief'")
        ports = options.get("ports")
        return cls(
            plan=plan,
            timeouts=timeouts,
            trainer_devices=DeviceRequest(
                gpus=options.get("gpus_per_node"), fraction=options.get("gpu_fraction")
            ),
            ports=ANY_PORT if ports is None else check_ports(ports),
            max_restarts=restarts,
            on_driver=_switch(options, "driver_ps_nodes"),
            feed=_switch(options, "feed"),
            tls=options.get("tls"),
            stream_logs=_switch(options, "stream_logs"),
            tensorboard=tensorboard,
            frameworks=NAMES if plan.size > 1 else (),
            tensorboard_host=_host(options),
        )

    def devices(self, node: Node) -> DeviceRequest:
        """Returns what a node may use: those that do not train get no GPU."""
        return self.trainer_devices if node.trains else DeviceRequest(gpus=0)


def _seconds(options: RunOptions, name: str, usual: float, *, least: float) -> float:
    value = options.get(name, usual)
    if type(value) not in (int, float) or not least <= value < math.inf:  # type: ignore[operator]
        raise InvalidPlan(f"{name}={value!r}", f"give a number of seconds, at least {least:g}")
    return float(value)  # type: ignore[arg-type]


def _host(options: RunOptions) -> str:
    value = options.get("tensorboard_host", LOOPBACK)
    if not isinstance(value, str) or not value:
        raise InvalidPlan(f"tensorboard_host={value!r}", "give an address, such as '0.0.0.0'")
    return value


def _switch(options: RunOptions, name: str) -> bool:
    value = options.get(name, False)
    if not isinstance(value, bool):
        raise InvalidPlan(f"{name}={value!r}", "give True or False")
    return value
