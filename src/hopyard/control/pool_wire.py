"""A pool's service on the wire: JSON objects and record batches in, messages and outcomes for the service out."""

from __future__ import annotations

from collections.abc import Mapping

from hopyard.codec.records import from_json, to_json
from hopyard.control.service import PoolService
from hopyard.errors import InvalidMessage, UnknownMethod
from hopyard.protocol.messages import METHOD_NAMED
from hopyard.protocol.outcome_stream import from_batches, sender_of
from hopyard.wire import BatchReader, Json, Service


class PoolWire(Service):
    """Hands what workers send to the service of their pool; what is malformed does not reach it."""

    def __init__(self, service: PoolService) -> None:
        self._service = service

    def call(self, method: str, message: Mapping[str, Json]) -> Mapping[str, Json]:
        """Answers a worker.

        Raises:
            UnknownMethod: There is no such message.
            InvalidMessage: It lacks something, or something in it is of the wrong kind.
        """
        known = METHOD_NAMED.get(method)
        if known is None:
            raise UnknownMethod(method)
        try:
            told = from_json(known.message, message)
        except ValueError as error:
            raise InvalidMessage(f"call {method}", str(error)) from error
        return to_json(self._service.ask(told))

    def receive(self, stream: str, batches: BatchReader) -> Mapping[str, Json]:
        """Takes what came of a worker, if one of this pool has sent it."""
        number, incarnation = sender_of(stream)
        self._service.deliver(number, incarnation, from_batches(batches, stream, self._service.outcome_key))
        return {}
