"""The main program of a slot's process: ``python -m hopyard.search.trial_entry <folder>``.

It runs one trial after the other, so that what the first one imports is there for the others. Each gets the function
fresh from its pickle, and a process as the one before found it; where that cannot be had, it says so and is replaced.
"""

from __future__ import annotations

import ctypes
import faulthandler
import json
import logging
import os
import pickle
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from hopyard.cluster.channel import Note
from hopyard.cluster.execution import Failure
from hopyard.cluster.gpu_memory import prepare
from hopyard.environment import environment
from hopyard.errors import BadResult
from hopyard.search.trial_call import TrialCall
from hopyard.search.trial_order import ENDED, ORDERS, PAYLOAD_FILE, Ending, TrialOrder
from hopyard.search.trial_result import read_result
from hopyard.tracking import TrialState

STOPPED = ("TrialStopped", "TrialPruned")


def main(folder: Path) -> int:
    """Runs trials until there are no more orders."""
    faulthandler.enable()  # a crash in native code then leaves a traceback in the trial's log
    prepare(os.environ)
    payload = (folder / PAYLOAD_FILE).read_bytes()
    with open(int(os.environ.pop(ORDERS)), "rb") as orders:
        for line in orders:
            order = TrialOrder.from_json(json.loads(line))
            with as_found(order.environment):
                finish(order, run(payload, order))
    return 0


def run(payload: bytes, order: TrialOrder) -> Ending:
    """Runs one trial and returns how it ended; raises nothing."""
    try:
        call: TrialCall = pickle.loads(payload)  # noqa: S301  the driver's own bytes
        value = call(pickle.loads(order.arguments))  # noqa: S301  as above
        result = read_result(value, call.objectives, call.wanted)
    except BadResult as error:
        return Ending(state=TrialState.FAILED, error_type=type(error).__name__, error=str(error))
    except BaseException as error:  # noqa: BLE001  the edge between the user's code and ours
        if type(error).__name__ in STOPPED:
            return Ending(state=TrialState.PRUNED)
        failure = Failure.of(error)
        sys.stderr.write(failure.traceback)
        return Ending(
            state=TrialState.FAILED,
            error_type=failure.error_type,
            error=failure.message,
            traceback=failure.traceback,
        )
    return Ending(state=TrialState.FINISHED, values=result.values, result=result.result)


def finish(order: TrialOrder, ending: Ending) -> None:
    """Tells the end of a trial, behind all that it has printed."""
    sys.stdout.flush()
    sys.stderr.flush()
    ctypes.pythonapi.fflush(None)  # what native code has printed
    replace(ending, left=what_is_left()).write(Path(order.folder))
    os.write(1, f"\n{order.token}\n".encode())
    Note(note=ENDED, text="").send(os.environ)


def what_is_left() -> str:
    """Returns what a trial leaves running, in words; nothing if its process can be used again."""
    threads = [thread.name for thread in threading.enumerate() if not thread.daemon]
    if len(threads) > 1:
        return f"threads ({', '.join(threads[1:])})"
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return ""
    return "processes"


@contextmanager
def as_found(variables: Mapping[str, str]) -> Iterator[None]:
    """Gives a trial its environment, and makes the process afterwards what it was before."""
    folder = os.getcwd()
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    before = dict(os.environ)
    try:
        with environment(variables):
            tempfile.tempdir = None
            yield
    finally:
        os.chdir(folder)
        for name in os.environ.keys() - before.keys():
            del os.environ[name]
        os.environ.update(before)
        root.handlers[:] = handlers
        root.setLevel(level)
        _forget_models()


def _forget_models() -> None:
    """Lets Keras drop what it keeps of the models of a trial, which else grows from trial to trial."""
    keras = sys.modules.get("keras")
    if keras is not None:
        keras.backend.clear_session()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
