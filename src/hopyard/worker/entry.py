"""The main program of a node's process: ``python -m hopyard.worker.entry <folder>``."""

from __future__ import annotations

import atexit
import faulthandler
import gc
import io
import os
import sys
from pathlib import Path

from hopyard.worker.execution import Failure, Report, execute
from hopyard.worker.gpus.memory import prepare

EXIT_SECONDS = 30.0
PAYLOAD_FILE = "payload.pickle"
REPORT_VARIABLE = "HOPYARD_REPORT"  # the descriptor of a file in memory


def main(folder: Path) -> int:
    """Runs the payload that lies in a folder, leaves the report beside it, returns the exit code."""
    faulthandler.enable()  # a crash in native code then leaves a traceback in the node's log
    atexit.register(_leave_quickly)  # the first one in is the last one out
    prepare(os.environ)
    try:
        report = execute((folder / PAYLOAD_FILE).read_bytes())
    except (
        KeyboardInterrupt
    ) as interrupt:  # Ctrl-C is for the driver, whose terminal this process does not have
        report = Report(failure=Failure.of(interrupt))
    _leave(report, folder)
    # threads that the function left running must not keep the node: what matters is stored
    faulthandler.dump_traceback_later(EXIT_SECONDS, exit=True)
    if report.failure is None:
        return 0
    sys.stderr.write(report.failure.traceback)
    return 1


def _leave(report: Report, folder: Path) -> None:
    """Leaves the report in the folder, or in memory if the disk is full: the user's error must be told."""
    memory = os.environ.get(REPORT_VARIABLE)
    try:
        report.write(folder)
    except OSError as error:
        sys.stderr.write(f"[hopyard] the result could not be written to {folder}: {error}\n")
        if memory is None:
            raise
        report.write_to_memory(int(memory))


def _leave_quickly() -> None:
    """Spares the interpreter its last searches for garbage, which take a second where TensorFlow is loaded.

    They would close the files that are still open, so these are flushed here. Garbage is finalised as ever;
    for what is alive until the end, Python promises no destructor.
    """
    gc.collect()
    alive = gc.get_objects()
    kinds = {kind for kind in set(map(type, alive)) if issubclass(kind, io.IOBase)}
    for file in (thing for thing in alive if type(thing) in kinds):
        try:
            if not file.closed:
                file.flush()
        except Exception as error:  # noqa: BLE001  of a class of the user's own; the other files must go on
            sys.stderr.write(f"[hopyard] at the end, {file!r} could not be flushed: {error}\n")
    gc.freeze()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
