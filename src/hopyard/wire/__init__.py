"""One authenticated wire between driver and executors, for control messages and record batches."""

from hopyard.codec.json_value import Json
from hopyard.wire.address import routable_address
from hopyard.wire.client import WireClient
from hopyard.wire.endpoint import Endpoint
from hopyard.wire.server import WireServer
from hopyard.wire.service import Batches, BatchReader, Service
from hopyard.wire.stream import BatchStream
from hopyard.wire.tagged import Tagged

__all__ = [
    "BatchReader",
    "BatchStream",
    "Batches",
    "Endpoint",
    "Json",
    "Service",
    "Tagged",
    "WireClient",
    "WireServer",
    "routable_address",
]
