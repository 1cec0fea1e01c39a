"""A standalone Spark cluster on this machine, started by hand as an administrator would, for tests."""

from __future__ import annotations

import os
import re
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Self

import pyspark

from hopyard.errors import ServerNotReady
from hopyard.scratch import scratch_folder
from hopyard.worker.server_process import ServerProcess

_LOOK_AGAIN_SECONDS = 0.05
_MASTER = re.compile(r"Starting Spark master at (spark://\S+)")
_REGISTERED = re.compile(r"Successfully registered with master")


class StandaloneSpark:
    """A master and workers of one core each, within a ``with`` block; programs connect to its ``url``.

    Args:
        workers: How many workers.
        host: Address that the master listens at.
        start_timeout_seconds: How long each of them may take to start.
    """

    def __init__(
        self, workers: int = 2, *, host: str = "127.0.0.1", start_timeout_seconds: float = 60.0
    ) -> None:
        self._workers = workers
        self._host = host
        self._start_timeout_seconds = start_timeout_seconds
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._folder = stack.enter_context(scratch_folder("standalone"))
            master = self._start(
                stack, "Master", "--host", self._host, "--port", "0", "--webui-port", "0", name="master"
            )
            self.url = self._wait_for(master, _MASTER)[1]
            self._stack = stack
            workers = [self._start_worker(number, self._host, ()) for number in range(self._workers)]
            for worker in workers:
                self._wait_for(worker, _REGISTERED)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def add_worker(self, host: str, *, prefix: tuple[str, ...] = ()) -> ServerProcess:
        """Starts one more worker; `prefix` is the command to run it under, such as ``ip netns exec``."""
        worker = self._start_worker(self._workers, host, prefix)
        self._workers += 1
        self._wait_for(worker, _REGISTERED)
        return worker

    def _start_worker(self, number: int, host: str, prefix: tuple[str, ...]) -> ServerProcess:
        folder = self._folder / f"worker-{number}"
        options = ("--host", host, "--cores", "1", "--memory", "1g", "--webui-port", "0")
        return self._start(
            self._stack,
            "Worker",
            *options,
            "--work-dir",
            str(folder),
            self.url,
            name=f"worker-{number}",
            prefix=prefix,
        )

    def _start(
        self, stack: ExitStack, part: str, *arguments: str, name: str, prefix: tuple[str, ...] = ()
    ) -> ServerProcess:
        home = Path(pyspark.__file__).parent
        command = (
            str(home / "bin" / "spark-class"),
            f"org.apache.spark.deploy.{part.lower()}.{part}",
            *arguments,
        )
        env = {
            **os.environ,
            "SPARK_HOME": str(home),
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1",
            "SPARK_LOCAL_DIRS": str(self._folder / "local"),
        }
        log = self._folder / f"{name}.log"
        return stack.enter_context(ServerProcess([*prefix, *command], log=log, env=env))

    def _wait_for(self, process: ServerProcess, sign: re.Pattern[str]) -> re.Match[str]:
        deadline = time.monotonic() + self._start_timeout_seconds
        while True:
            running = process.is_running
            if found := sign.search(process.log.read_text(errors="replace")):
                return found
            if not running or time.monotonic() > deadline:
                state = "still starting" if running else "it ended"
                raise ServerNotReady(
                    "a part of Spark", self._start_timeout_seconds, state, process.last_lines()
                )
            time.sleep(_LOOK_AGAIN_SECONDS)
