"""The first contact of a process with a project's store: short, so that a wrong root is told soon.

Later calls have the patience of their store, so that a run outlives an outage.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from functools import partial
from typing import TypeVar

from hopyard.errors import NotAFolder, RootUnusable, StoreFailed, StoreUnreachable
from hopyard.store.diagnosis import Diagnosis, diagnose
from hopyard.store.filesystem import FileSystem, Server

SECONDS = 7.0
# A store that answers does so within this time, as a rule; nobody looks for reasons before.
_PROMPT_SECONDS = 0.5
_DIAGNOSIS_SECONDS = 3.0
_LEAST_DIAGNOSIS_SECONDS = 0.1
_ANOTHER_ROOT = "Set HOPYARD_ROOT (or --root) to a folder that you may write to"
_CHECK_SERVER = "Check HOPYARD_ROOT (or --root) and the storage options, and that the server runs and lets this machine connect"

T = TypeVar("T")


def make_contact(files: FileSystem, root: str, folder: str, seconds: float = SECONDS) -> None:
    """Returns once the store of a project has answered.

    Args:
        files: The store.
        root: The project's root as the user knows it.
        folder: The project's folder in the store.
        seconds: How long the answer may take.

    Raises:
        StoreUnreachable: It has not.
        RootUnusable: It has, and a project cannot be there.
    """
    servers = files.servers()
    try:
        if servers:
            _ask_servers(files, folder, servers, seconds)
        else:
            files.probe(folder)
    except RootUnusable as error:
        raise RootUnusable(root, error.reason, error.remedy) from error
    except StoreFailed as error:
        raise StoreUnreachable(root, error.reason, _CHECK_SERVER) from error
    except NotAFolder as error:
        raise RootUnusable(root, "it is a file, or lies below one", _ANOTHER_ROOT) from error
    except OSError as error:
        raise RootUnusable(root, str(error).rstrip("."), _ANOTHER_ROOT) from error


def _ask_servers(files: FileSystem, folder: str, servers: Sequence[Server], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    answer = in_background(partial(files.probe, folder))
    if comes_within(answer, _PROMPT_SECONDS) and not isinstance(answer.exception(), StoreFailed):
        return answer.result()  # also a refusal of another kind
    left = max(_LEAST_DIAGNOSIS_SECONDS, deadline - time.monotonic())
    found = _diagnose_all(servers, min(_DIAGNOSIS_SECONDS, left))
    reason = " and ".join(each.text for each in found if each.text)
    if all(each.is_certain for each in found):
        raise StoreFailed(folder, reason)
    # Where one of several is well, the client goes on to it in its own time.
    is_patient = len(found) > 1 and not all(each.text for each in found)
    if not comes_within(answer, None if is_patient else deadline - time.monotonic()):
        raise StoreFailed(folder, f"{reason or f'{servers[0]} does not answer'} (waited {seconds:g} s)")
    error = answer.exception()
    if not isinstance(error, StoreFailed) or isinstance(error, RootUnusable):
        return answer.result()
    raise StoreFailed(
        folder, reason or f"{servers[0]} answers, but not as {servers[0].role} ({error.reason})"
    )


def _diagnose_all(servers: Sequence[Server], seconds: float) -> list[Diagnosis]:
    """Asks all at once; a look-up of a name that hangs is no answer either."""
    deadline = time.monotonic() + seconds
    answers = [in_background(partial(diagnose, server, seconds)) for server in servers]
    return [
        answer.result()
        if comes_within(answer, deadline - time.monotonic())
        else Diagnosis(text=f"{server} does not answer")
        for server, answer in zip(servers, answers, strict=True)
    ]


def comes_within(answer: Future[T], seconds: float | None) -> bool:
    """Waits for an answer, for so many seconds or without end; returns whether it has come."""
    return bool(wait([answer], None if seconds is None else max(0.0, seconds)).done)


def in_background(call: Callable[[], T]) -> Future[T]:
    """Makes a call that may hang; not in a pool, whose threads Python waits for at its end."""
    answer: Future[T] = Future()
    threading.Thread(target=_settle, args=(answer, call), name="hopyard-contact", daemon=True).start()
    return answer


def _settle(answer: Future[T], call: Callable[[], T]) -> None:
    try:
        answer.set_result(call())
    except BaseException as error:  # noqa: BLE001  whoever waits raises it again
        answer.set_exception(error)
