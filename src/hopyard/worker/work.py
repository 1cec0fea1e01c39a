"""What the workers of a pool do, whatever pool it is, wherever a backend starts them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from hopyard.worker.driver_link import Driver
from hopyard.worker.gpus.request import DeviceRequest

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One worker of a pool.

    Attributes:
        number: Which one: the rank of a node, the number of a slot.
        devices: The GPUs that it wants.
        is_beside_driver: Whether it runs beside the driver, whatever the backend.
    """

    number: int
    devices: DeviceRequest = field(default_factory=DeviceRequest)
    is_beside_driver: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """Where a worker is.

    Attributes:
        address: At which others reach this machine.
        gpus: The GPUs that Spark gave to its task; None where Spark gives none.
    """

    address: str = LOOPBACK
    gpus: tuple[str, ...] | None = None


class Work(Protocol):
    """What each member of a pool does; it travels to the executors by pickle."""

    def run(self, member: Member, driver: Driver, host: Host) -> None:
        """Does the work of one member, to its end or until its driver says so."""

    def describe(self, numbers: Sequence[int]) -> str:
        """Returns what Spark's pages call the work of these members."""
