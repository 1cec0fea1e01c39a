"""The main program of a node's process: ``python -m hopyard.cluster.entry <folder>``."""

from __future__ import annotations

import faulthandler
import os
import sys
from pathlib import Path

from hopyard.cluster.execution import execute
from hopyard.cluster.gpu_memory import prepare

EXIT_SECONDS = 30.0
PAYLOAD_FILE = "payload.pickle"


def main(folder: Path) -> int:
    """Runs the payload that lies in a folder, leaves the report beside it, returns the exit code."""
    faulthandler.enable()  # a crash in native code then leaves a traceback in the node's log
    prepare(os.environ)
    report = execute((folder / PAYLOAD_FILE).read_bytes())
    report.write(folder)
    # threads that the function left running must not keep the node: what matters is stored
    faulthandler.dump_traceback_later(EXIT_SECONDS, exit=True)
    if report.failure is None:
        return 0
    sys.stderr.write(report.failure.traceback)
    return 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
