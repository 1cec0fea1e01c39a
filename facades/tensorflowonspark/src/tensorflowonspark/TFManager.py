"""Queues and values that several processes share; ``from tensorflowonspark import TFManager``.

Nodes of a cluster do without: their ``ctx.mgr`` is a `NodeManager`. This is for programs that start one themselves.
"""

from __future__ import annotations

import multiprocessing
import os
import queue
import threading
from collections.abc import Sequence
from multiprocessing.managers import BaseManager
from typing import Any

from hopyard.errors import BadArguments

ANYWHERE = ("", 0)


class TFManager(BaseManager):
    """A process with queues and values, or a connection to one; `start` and `connect` return it.

    ``get_queue(qname)`` returns a queue, ``set(key, value)`` keeps a value and ``get(key)`` returns it, each as a
    proxy: ``str(mgr.get(key))`` is the value's ``repr``, and ``mgr.get(key)._getvalue()`` the value.
    """

    _registry: dict[str, tuple[Any, ...]]

    def serve(self, shelf: SharedBuffer) -> None:
        """Starts the process with what it is to share; it ends with this one, or with ``shutdown()``."""
        # of this manager alone: the public way to register changes the class, and with it all other managers
        known = self._registry.items()
        self._registry = {name: (getattr(shelf, name), *rest) for name, (_, *rest) in known}
        self.start(initializer=_end_with_parent)


class SharedBuffer:
    """What the process of a manager keeps.

    Args:
        names: Names of its queues.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = tuple(names)
        self._queues: dict[str, queue.Queue[object]] = {}
        self._values: dict[str, object] = {}
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type[SharedBuffer], tuple[tuple[str, ...]]]:
        return SharedBuffer, (self._names,)

    def get_queue(self, qname: str) -> queue.Queue[object]:
        """Returns a queue.

        Raises:
            BadArguments: There is none of that name.
        """
        if qname not in self._names:
            raise BadArguments("get_queue", f"{qname!r} is none of the queues: {', '.join(self._names)}")
        with self._lock:
            return self._queues.setdefault(qname, queue.Queue())

    def get(self, key: str) -> object:
        """Returns a value.

        Raises:
            KeyError: There is none of that name.
        """
        return self._values[key]

    def set(self, key: str, value: object) -> None:
        """Keeps a value."""
        self._values[key] = value


for _name in ("get_queue", "get", "set"):
    TFManager.register(_name)


def start(authkey: str | bytes, queues: Sequence[str], mode: str = "local") -> TFManager:
    """Returns a manager with its process, which ends with this one.

    Args:
        authkey: The secret that others need to connect.
        queues: Names of its queues.
        mode: ``"local"`` for processes of this machine, ``"remote"`` for others, too.
    """
    manager = TFManager(address=ANYWHERE if mode == "remote" else None, authkey=_secret(authkey))
    manager.serve(SharedBuffer(queues))
    return manager


def connect(address: Any, authkey: str | bytes) -> TFManager:
    """Returns a manager that some process has started.

    Args:
        address: The ``address`` of that manager; for one of another machine its host and port.
        authkey: The secret that it was started with.
    """
    manager = TFManager(address, authkey=_secret(authkey))
    manager.connect()
    return manager


def _secret(authkey: str | bytes) -> bytes:
    return authkey.encode() if isinstance(authkey, str) else authkey


def _end_with_parent() -> None:
    threading.Thread(target=_watch_parent, daemon=True).start()


def _watch_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(0)  # nobody is left whom anything could be told
