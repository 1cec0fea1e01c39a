"""A real HDFS on this machine: one NameNode, one DataNode, WebHDFS; for tests."""

from __future__ import annotations

import contextlib
import json
import socket
import time
import urllib.request
from typing import TYPE_CHECKING, Any, Self
from xml.sax.saxutils import escape

from hopyard.errors import ServerNotReady
from hopyard.scratch import scratch_folder
from hopyard.testing.hadoop_jars import hadoop_jars
from hopyard.worker.server_process import ServerProcess

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_NAMENODE = "org.apache.hadoop.hdfs.server.namenode.NameNode"
_DATANODE = "org.apache.hadoop.hdfs.server.datanode.DataNode"
_LOOK_AGAIN_SECONDS = 0.05


class MiniHDFS:
    """A running HDFS within a ``with`` block; its files live in a temporary folder.

    Both servers listen on 127.0.0.1 only and end with this process, however it ends.

    Attributes:
        url: Root for clients of the RPC protocol, ``hdfs://127.0.0.1:<port>``.
        webhdfs_url: Root for clients of the HTTP protocol, ``webhdfs://127.0.0.1:<port>``.
        folder: Where the servers keep blocks, configuration and logs.
    """

    def __init__(self, *, jars: Path | None = None, start_timeout_seconds: float = 90.0) -> None:
        """Describes the file system; entering the context starts it.

        Args:
            jars: Folder of Hadoop's jars; fetched into a cache if not given.
            start_timeout_seconds: How long a start may take until the first DataNode has reported.
        """
        self._jars = jars
        self._start_timeout_seconds = start_timeout_seconds
        self._servers: dict[str, ServerProcess] = {}
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            self._classpath = str((self._jars or hadoop_jars()) / "*")
            self.folder = stack.enter_context(scratch_folder("hdfs"))
            rpc_port, self._http_port = _free_ports(2)
            self.url = f"hdfs://127.0.0.1:{rpc_port}"
            self.webhdfs_url = f"webhdfs://127.0.0.1:{self._http_port}"
            self._write_configuration()
            stack.callback(self._stop_servers)
            self._format()
            self._start_servers()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._stack.close()

    def restart(self) -> None:
        """Stops both servers and starts them again on the same ports, with the same data."""
        self._stop_servers()
        self._start_servers()

    def kill_datanode(self) -> None:
        """Ends the DataNode as a crash would; `restart` brings it back."""
        self._servers.pop(_DATANODE).kill()

    def _start_servers(self) -> None:
        for server in (_NAMENODE, _DATANODE):
            self._servers[server] = self._spawn(server)
        self._wait_until_ready()

    def _stop_servers(self) -> None:
        while self._servers:
            _, server = self._servers.popitem()
            server.stop()

    def _format(self) -> None:
        with self._spawn(_NAMENODE, "-format", "-force") as formatting:
            deadline = time.monotonic() + self._start_timeout_seconds
            while formatting.is_running and time.monotonic() < deadline:
                time.sleep(_LOOK_AGAIN_SECONDS)
        if not (self.folder / "dfs" / "name" / "current" / "VERSION").exists():
            raise ServerNotReady(
                "NameNode -format", self._start_timeout_seconds, "no file system", formatting.last_lines()
            )

    def _spawn(self, server: str, *arguments: str) -> ServerProcess:
        java = (
            "java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
            f"-Djava.io.tmpdir={self.folder / 'tmp'}",
            f"-Djdk.net.hosts.file={self.folder / 'conf' / 'hosts'}",
            "-cp", f"{self.folder / 'conf'}:{self._classpath}",
        )  # fmt: skip
        log = self.folder / f"{server.rpartition('.')[2]}.log"
        return ServerProcess([*java, server, *arguments], log=log)

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + self._start_timeout_seconds
        while not (state := self._state()).startswith("Operational"):
            ended = [name for name, server in self._servers.items() if not server.is_running]
            if ended or time.monotonic() > deadline:
                logs = "\n".join(
                    f"--- {server.log}\n{server.last_lines()}" for server in self._servers.values()
                )
                what = f"{', '.join(ended)} ended" if ended else state
                raise ServerNotReady("MiniHDFS", self._start_timeout_seconds, what, logs)
            time.sleep(_LOOK_AGAIN_SECONDS)

    def _state(self) -> str:
        query = "Hadoop:service=NameNode,name=FSNamesystemState"
        address = f"http://127.0.0.1:{self._http_port}/jmx?qry={query}"
        try:
            with urllib.request.urlopen(address, timeout=5) as reply:
                beans: list[dict[str, Any]] = json.load(reply)["beans"]
        except OSError as error:
            return f"the NameNode does not answer: {error}"
        if not beans or not beans[0]["NumLiveDataNodes"]:
            return "no DataNode has reported to the NameNode"
        return str(beans[0]["FSState"])

    def _write_configuration(self) -> None:
        (self.folder / "tmp").mkdir()
        conf = self.folder / "conf"
        # The jars come without web pages, and the web server insists on these folders.
        for pages in ("hdfs", "datanode", "static"):
            (conf / "webapps" / pages).mkdir(parents=True)
        for name in ("core-site.xml", "hdfs-site.xml"):
            (conf / name).write_text(_as_xml(self._configuration()))
        (conf / "hosts").write_text(f"127.0.0.1 localhost {socket.gethostname()}\n")

    def _configuration(self) -> dict[str, str]:
        any_port = "127.0.0.1:0"
        return {
            "fs.defaultFS": self.url,
            "hadoop.tmp.dir": str(self.folder),
            "dfs.replication": "1",
            "dfs.permissions.enabled": "false",
            "dfs.namenode.http-address": f"127.0.0.1:{self._http_port}",
            "dfs.namenode.datanode.registration.ip-hostname-check": "false",
            # The default of 0.999 rounds down to no block at all in a small file system: it would count
            # as ready before the DataNode has told what it holds.
            "dfs.namenode.safemode.threshold-pct": "1.0",
            "dfs.namenode.safemode.extension": "0",
            "dfs.datanode.hostname": "127.0.0.1",
            "dfs.datanode.address": any_port,
            "dfs.datanode.http.address": any_port,
            "dfs.datanode.ipc.address": any_port,
            # Defaults are made for clusters: these three make small writes and restarts quick.
            "dfs.heartbeat.interval": "1",
            "dfs.client.block.write.locateFollowingBlock.initial.delay.ms": "5",
            "dfs.client.block.write.replace-datanode-on-failure.policy": "NEVER",
        }


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for sock in sockets:
            sock.bind(("127.0.0.1", 0))
        return [int(sock.getsockname()[1]) for sock in sockets]


def _as_xml(configuration: Mapping[str, str]) -> str:
    properties = (
        f"<property><name>{escape(name)}</name><value>{escape(value)}</value></property>"
        for name, value in configuration.items()
    )
    return f"<configuration>{''.join(properties)}</configuration>"
