"""What a driver knows of its Spark and of its environment that a cluster is to respect."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from hopyard.errors import InvalidPorts
from hopyard.worker.ports import ANY_PORT, parse_ports

if TYPE_CHECKING:
    from pyspark import SparkContext

SERVER_HOST = "TFOS_SERVER_HOST"
SERVER_PORT = "TFOS_SERVER_PORT"
TENSORFLOW_PORT = "TENSORFLOW_PORT"
TENSORBOARD_PORT = "TENSORBOARD_PORT"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessState:
    """Facts that every cluster of a Spark application shares.

    Attributes:
        default_fs: URL of Hadoop's default file system, without a slash at its end.
        working_dir: The driver's working folder.
        server_host: Address at which nodes find the driver; None to find out.
        server_ports: Ports that the driver may listen on.
        node_ports: Ports that nodes may take.
        tensorboard_port: Port of TensorBoard; 0 takes a free one.
    """

    default_fs: str = "file://"
    working_dir: str = "."
    server_host: str | None = None
    server_ports: tuple[int, ...] = ANY_PORT
    node_ports: tuple[int, ...] = ANY_PORT
    tensorboard_port: int = 0

    @classmethod
    def of(cls, sc: SparkContext, environ: Mapping[str, str] = os.environ) -> Self:
        """Returns the facts of an application.

        ``TFOS_SERVER_HOST`` and ``TFOS_SERVER_PORT`` are the driver's; ``TENSORFLOW_PORT`` and
        ``TENSORBOARD_PORT`` are those of the executors (``spark.executorEnv.…``), else the driver's.

        Raises:
            InvalidPorts: One of these is no port and no range of ports.
            OSError: The host is not known.
        """
        shared = {**environ, **sc.environment, **_executor_environment(sc)}
        host = environ.get(SERVER_HOST)
        return cls(
            default_fs=default_fs(sc),
            working_dir=os.getcwd(),
            server_host=socket.gethostbyname(host) if host else None,
            server_ports=parse_ports(environ.get(SERVER_PORT) or "0"),
            node_ports=parse_ports(shared.get(TENSORFLOW_PORT) or "0"),
            tensorboard_port=_single_port(shared.get(TENSORBOARD_PORT) or "0"),
        )


def default_fs(sc: SparkContext) -> str:
    """Returns the URL of Hadoop's default file system, without a slash at its end."""
    hadoop = sc._jsc.hadoopConfiguration()  # noqa: SLF001 (pyspark has no public way to it)
    url = str(hadoop.get("fs.defaultFS"))
    return f"{url.rstrip('/')}//" if url.startswith("file:") else url.rstrip("/")


def _executor_environment(sc: SparkContext) -> dict[str, str]:
    prefix = "spark.executorEnv."
    return {key.removeprefix(prefix): value for key, value in sc.getConf().getAll() if key.startswith(prefix)}


def _single_port(text: str) -> int:
    ports = parse_ports(text)
    if len(ports) != 1:
        raise InvalidPorts(text)
    return ports[0]
