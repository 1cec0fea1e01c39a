"""The driver's end of a pool of workers: what answers them, and hears of them from the backend that started them."""

from __future__ import annotations

import secrets
import threading
from abc import ABC, abstractmethod
from typing import Any, TypeVar, cast

from hopyard.errors import UnknownMethod
from hopyard.protocol.messages import Answer, Message
from hopyard.protocol.outcome import Outcome

A = TypeVar("A")


class PoolService(ABC):
    """Answers the workers of a pool; many threads call it at a time, those of the wire or those of workers beside the driver.

    Attributes:
        news: Set when something has happened that whoever drives the pool had better look at.
        outcome_key: What marks an outcome as one that a worker of this pool has sent; it never goes over the wire.
    """

    def __init__(self) -> None:
        self.news = threading.Event()
        self.outcome_key = secrets.token_bytes()

    def ask(self, message: Message[A]) -> A:
        """Returns the answer to a message."""
        return cast("A", self.answer(message))

    @abstractmethod
    def answer(self, message: Message[Any]) -> Answer:
        """Returns the answer to a message, of the kind that the message asks for."""

    def deliver(self, number: int, incarnation: str, outcome: Outcome) -> None:  # noqa: ARG002  refused
        """Takes what came of a worker.

        Raises:
            UnknownMethod: Workers of this pool bring nothing but messages.
        """
        raise UnknownMethod("outcome")

    @property
    @abstractmethod
    def is_ending(self) -> bool:
        """Whether workers are told to leave."""

    @property
    @abstractmethod
    def awaits_workers(self) -> bool:
        """Whether more of them have to come before the pool can do its work."""

    @property
    @abstractmethod
    def progress(self) -> int:
        """How much is done; workers that their backend gave up are started again only if this has grown."""

    @abstractmethod
    def suspect(self) -> None:
        """Hears that the backend has lost a worker, and does not know which: who is silent now is the one."""

    @abstractmethod
    def give_up(self, error: Exception) -> None:
        """Hears that those who are not here will not come any more, and why."""
