"""Where the workers of a pool run: the seam between what is to be done and the processes that do it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from hopyard.control.service import PoolService
from hopyard.errors import HopyardError
from hopyard.worker.gpus.request import DeviceRequest
from hopyard.worker.ports import ANY_PORT
from hopyard.worker.work import Member, Work


@dataclass(frozen=True, slots=True, kw_only=True)
class Crew:
    """The workers that a pool wants.

    Attributes:
        work: What they do.
        members: Who they are.
        detached: How they do it if they leave their Spark tasks, so that others can have the slots; None if they stay.
        is_gang: Whether all start or none: a run. Otherwise each starts as soon as there is room for it: a study.
        most_starts: How often they may be started, if Spark gives them up and the pool has made progress since.
        start_seconds: How long to wait for room.
        address: Where workers on other machines find the driver; None to find out.
        ports: The ports that the driver may listen on for them.
        tls: Whether they call it over TLS.
    """

    work: Work
    members: tuple[Member, ...]
    detached: Work | None = None
    is_gang: bool = False
    most_starts: int = 1
    start_seconds: float = math.inf
    address: str | None = None
    ports: tuple[int, ...] = ANY_PORT
    tls: bool = False


class Workers(Protocol):
    """The workers of one pool, under way."""

    @property
    def have_left(self) -> bool:
        """Whether they have left, or leave, their Spark tasks: then nothing but their lease ends them by force."""

    @property
    def refusal(self) -> HopyardError | None:
        """Why none of them was ever started; None if they were."""

    def watch(self) -> None:
        """Looks after them, and tells the service of the pool who is lost or will not come; to be called now and then."""

    def close(self, patience: float) -> None:
        """Returns when all are gone.

        Args:
            patience: Seconds after which those are ended by force that have not left by themselves, where there is force.

        Raises:
            BackendFailed: Some cannot be ended.
        """


class Backend(Protocol):
    """Starts workers somewhere."""

    @property
    def name(self) -> str:
        """The word for it in records and messages."""

    @property
    def application(self) -> str | None:
        """The id of the application that runs belong to, if the backend has such a thing."""

    @property
    def encrypts(self) -> bool:
        """Whether it encrypts connections of its own; those of pools are then, too, unless their user says otherwise."""

    def room(self, devices: DeviceRequest) -> int:
        """Returns how many workers it runs at once.

        Raises:
            NotEnoughSlots: There is no room for a single one.
        """

    def start(self, crew: Crew, service: PoolService) -> Workers:
        """Starts workers, which call the service.

        Raises:
            NotEnoughSlots: There will never be room for them.
        """
