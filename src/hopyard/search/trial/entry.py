"""The main program of a slot's process: ``python -m hopyard.search.trial.entry <folder>``.

It runs one trial after the other, so that what the first one imports is there for the others. Each gets the function
fresh from its pickle, and a process as the one before found it; where that cannot be had, it says so and is replaced.
"""

from __future__ import annotations

import ctypes
import faulthandler
import json
import os
import pickle
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from hopyard.codec.records import from_json
from hopyard.errors import BadResult
from hopyard.protocol.channel import Note
from hopyard.search.trial.call import TrialCall
from hopyard.search.trial.order import BEGUN, ENDED, ORDERS, PAYLOAD_FILE, Ending, TrialOrder
from hopyard.search.trial.process_state import ProcessState
from hopyard.tracking import TrialState
from hopyard.worker.execution import Failure
from hopyard.worker.gpus.memory import prepare

STOPPED = ("TrialStopped", "TrialPruned")


def main(folder: Path) -> int:
    """Runs trials until there are no more orders."""
    faulthandler.enable()  # a crash in native code then leaves a traceback in the trial's log
    prepare(os.environ)
    payload = (folder / PAYLOAD_FILE).read_bytes()
    with open(int(os.environ.pop(ORDERS)), "rb") as orders:
        home = ProcessState.here(folder)
        for line in orders:
            order = from_json(TrialOrder, json.loads(line))
            Note(note=BEGUN, text="").send(home.variables)
            with home.around(order.environment):
                ending = run(payload, order)
                if os.getpid() != home.pid:  # the function forked, and returned in both processes
                    os._exit(0)
                finish(order, ending, home)
    return 0


def run(payload: bytes, order: TrialOrder) -> Ending:
    """Runs one trial and returns how it ended; raises nothing."""
    try:
        call: TrialCall = pickle.loads(payload)  # noqa: S301  the driver's own bytes
        value = call(pickle.loads(order.arguments))  # noqa: S301  as above
        result = call.read(value)
    except BadResult as error:
        return Ending(state=TrialState.FAILED, error_type=type(error).__name__, error=str(error))
    except BaseException as error:  # noqa: BLE001  the edge between the user's code and ours
        if type(error).__name__ in STOPPED:
            return Ending(state=TrialState.PRUNED)
        failure = Failure.of(error)
        with suppress(Exception):  # the function may have closed or replaced it
            sys.stderr.write(failure.traceback)
        return Ending(
            state=TrialState.FAILED,
            error_type=failure.error_type,
            error=failure.message,
            traceback=failure.traceback,
        )
    return Ending(
        state=TrialState.FINISHED, values=result.values, result=result.result, returned_as=result.key
    )


def finish(order: TrialOrder, ending: Ending, home: ProcessState) -> None:
    """Tells the end of a trial, behind all that it has printed."""
    home.flush()
    ctypes.pythonapi.fflush(None)  # what native code has printed
    replace(ending, left=home.left()).write(Path(order.folder))
    os.write(1, f"\n{order.token}\n".encode())
    Note(note=ENDED, text="").send(home.variables)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
