"""What the store did not take is put aside on the host where it is: files, and what a function returned."""

from __future__ import annotations

import shutil
import socket
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hopyard.worker.execution import Report

PREFIX = "hopyard-rescued-"
FILES_FOLDER = "logdir"
PICKLED_VALUE = "value.pickle"
PRINTED_VALUE = "value.txt"
LONGEST_SHOWN = 200


def rescue(files: Path | None, report: Report | None) -> str:
    """Puts a folder and a function's value aside; returns, in words, where they are now.

    Args:
        files: A folder that is to be moved, if any.
        report: What the function ended with; None as a value is not worth a file.
    """
    value = None if report is None or report.printed == "None" else report.value
    if files is None and value is None:
        return ""
    shown = "" if report is None else _shown(report.printed)
    host = socket.gethostname()
    told = []
    try:
        refuge = Path(tempfile.mkdtemp(prefix=PREFIX))
        if value is not None and report is not None:
            (refuge / PRINTED_VALUE).write_text(report.printed, "utf-8", errors="backslashreplace")
            (refuge / PICKLED_VALUE).write_bytes(value)
            told.append(f"the returned value{shown} is on {host} in {refuge / PICKLED_VALUE}")
        if files is not None:
            shutil.move(files, refuge / FILES_FOLDER)
            told.append(f"the files are on {host} in {refuge / FILES_FOLDER}")
    except OSError as error:
        lost = "the files" if told else f"the returned value{shown}" if value is not None else "the files"
        told.append(f"{lost} could not be put aside on {host} either ({error})")
    return ", ".join(told)


def _shown(printed: str) -> str:
    """Returns a value for a sentence, if it is short."""
    return f" {printed}" if len(printed) <= LONGEST_SHOWN and "\n" not in printed else ""
