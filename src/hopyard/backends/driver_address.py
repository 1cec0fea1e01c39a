"""The address at which executors find the driver."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Mapping

from hopyard.errors import NoSuchAddress
from hopyard.wire import routable_address

LOG = logging.getLogger(__name__)


def driver_address(driver_host: str, environ: Mapping[str, str] = os.environ) -> str:
    """Returns the address at which executors reach this driver.

    HOPYARD_NETWORK decides if it is set. Otherwise it is the address that Spark gave its executors
    (``spark.driver.host``), where this machine has it; behind a gateway it has not, and is asked for its own.
    """
    if environ.get("HOPYARD_NETWORK"):
        return routable_address(environ=environ)
    try:
        return routable_address(socket.gethostbyname(driver_host))
    except (OSError, NoSuchAddress) as error:
        own = routable_address(environ=environ)
        LOG.warning("%s; nodes are told to call %s: set HOPYARD_NETWORK if they cannot", error, own)
        return own
