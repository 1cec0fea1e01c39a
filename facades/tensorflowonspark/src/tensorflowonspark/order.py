"""What `TFCluster.run` is asked for, as values; and how calls of older releases are read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

from hopyard.control.gang import Timeouts
from hopyard.errors import BadArguments
from hopyard.run.options import TrainSpec
from hopyard.worker.gpus.request import DeviceRequest
from tensorflowonspark.board import boards
from tensorflowonspark.roles import Roles
from tensorflowonspark.surroundings import ProcessState

QUEUES = ("input", "output", "error")
RESERVATION_SECONDS = 600


class InputMode:
    """Who reads the training data."""

    TENSORFLOW = 0  #: The program itself.
    SPARK = 1  #: Spark, which feeds it to the program.


@dataclass(frozen=True, slots=True, kw_only=True)
class Later:
    """Those arguments of `TFCluster.run` that changed their places between releases.

    Attributes:
        driver_ps_nodes: Whether parameter servers run beside the driver.
        master_node: Name of the node that leads; None for none.
        reservation_timeout: Seconds in which all nodes have to arrive.
        queues: Names of the feed's queues.
    """

    driver_ps_nodes: bool = False
    master_node: str | None = None
    reservation_timeout: float = RESERVATION_SECONDS
    queues: tuple[str, ...] = QUEUES

    @classmethod
    def sorted_out(cls, *values: object) -> Self:
        """Returns the arguments by what they are: each has a type of its own, in whichever place it was given.

        Args:
            values: One for each attribute, in their order here.

        Raises:
            BadArguments: A value is none of these, or two are the same one.
        """
        found: dict[str, Any] = {}
        for field, value in zip(fields(cls), values, strict=True):
            if value == field.default or value is None:
                continue
            # no release had another number in that place
            number = isinstance(value, int) and field.name == "driver_ps_nodes"
            name = field.name if number else _name(value)
            if name in found:
                raise BadArguments("TFCluster.run", f"{found[name]!r} and {value!r} both look like {name}")
            found[name] = tuple(value) if isinstance(value, list) else value
        return cls(**found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A cluster that was asked for.

    Attributes:
        roles: Its nodes.
        tensorboard: Whether a TensorBoard runs beside the first worker.
        input_mode: Who reads the data.
        log_dir: What the TensorBoard shows; None for the log folder of its node.
        driver_ps_nodes: Whether parameter servers run beside the driver.
        reservation_timeout: Seconds in which all nodes have to arrive.
        queues: Names of the feed's queues.
        release_port: Whether map_fun gets no socket that holds its port.
        name: A name for the run; that of map_fun if None.
        description: Free text that is kept with the run.
    """

    roles: Roles
    tensorboard: bool = False
    input_mode: int = InputMode.TENSORFLOW
    log_dir: str | None = None
    driver_ps_nodes: bool = False
    reservation_timeout: float = RESERVATION_SECONDS
    queues: tuple[str, ...] = QUEUES
    release_port: bool = True
    name: str | None = None
    description: str = ""

    def __post_init__(self) -> None:
        if self.input_mode not in (InputMode.TENSORFLOW, InputMode.SPARK):
            raise BadArguments("TFCluster.run", f"input_mode={self.input_mode!r} is none of InputMode")

    @property
    def is_fed(self) -> bool:
        """Whether Spark feeds the nodes."""
        return self.input_mode == InputMode.SPARK

    def spec(self, tf_args: object, around: ProcessState) -> TrainSpec:
        """Returns how the nodes are to be run.

        Raises:
            InvalidPlan: The numbers of nodes do not fit together.
            InvalidDevices: ``tf_args.num_gpus`` is no number of GPUs.
        """
        return TrainSpec(
            plan=self.roles.plan(),
            # the evaluator goes on until `shutdown`, which says how long it then has
            timeouts=Timeouts(start=self.reservation_timeout, grace=math.inf),
            trainer_devices=devices(tf_args),
            ports=around.node_ports,
            on_driver=self.driver_ps_nodes,
            feed=self.is_fed,
            companions=boards(self.log_dir, around.tensorboard_port) if self.tensorboard else (),
            driver_address=around.server_host,
            driver_ports=around.server_ports,
        )


def devices(tf_args: object) -> DeviceRequest:
    """Returns the GPUs of each node that trains: ``tf_args.num_gpus`` if given, else what Spark gives, else one."""
    return DeviceRequest(gpus=getattr(tf_args, "num_gpus", None), unscheduled=1)


def _name(value: object) -> str:
    if isinstance(value, bool):
        return "driver_ps_nodes"
    if isinstance(value, (int, float)):
        return "reservation_timeout"
    if isinstance(value, str):
        return "master_node"
    if isinstance(value, Sequence):
        return "queues"
    raise BadArguments("TFCluster.run", f"{value!r} is none of its arguments")
