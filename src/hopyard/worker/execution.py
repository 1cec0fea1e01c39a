"""One execution of a payload: from bytes to a value, or to an account of what went wrong."""

from __future__ import annotations

import json
import os
import pickle
import reprlib
import traceback
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import cloudpickle

from hopyard.frameworks.registry import empty_lines
from hopyard.protocol import payload
from hopyard.telling_line import telling_line

VALUE_FILE = "value.pickle"
PRINTED_FILE = "value.txt"
FAILURE_FILE = "failure.json"
MOST_ITEMS = 100
LONGEST_PART = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a payload gave no value."""

    error_type: str
    message: str
    traceback: str

    @classmethod
    def of(cls, error: BaseException) -> Self:
        """Returns an account of an exception, without the frames that led to the user's function."""
        frames = traceback.TracebackException.from_exception(error)
        package = Path(__file__).parents[1]
        ours = tuple(str(package / name) for name in ("protocol", "worker", "run", "search"))
        theirs = [frame for frame in frames.stack if not frame.filename.startswith(ours)]
        frames.stack = traceback.StackSummary.from_list(theirs)
        text = "".join(frames.format())
        return cls(error_type=type(error).__name__, message=_message(error), traceback=text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What an execution ends with: a pickled value or a failure.

    Attributes:
        value: What the function returned, pickled.
        printed: The same for a human eye, long ones abridged.
        failure: Why there is no value.
    """

    value: bytes | None = None
    printed: str = ""
    failure: Failure | None = None

    def write(self, folder: Path) -> None:
        """Leaves the report in a folder, whole or not at all."""
        if self.failure is None:
            assert self.value is not None
            _write_whole(folder / PRINTED_FILE, self.printed.encode(errors="backslashreplace"))
            _write_whole(folder / VALUE_FILE, self.value)
        else:
            _write_whole(folder / FAILURE_FILE, json.dumps(asdict(self.failure)).encode())

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """Returns the report in a folder, or None if the execution left none."""
        if (folder / VALUE_FILE).exists():
            printed = (folder / PRINTED_FILE).read_text("utf-8", errors="replace")
            return cls(value=(folder / VALUE_FILE).read_bytes(), printed=printed)
        if (folder / FAILURE_FILE).exists():
            return cls(failure=Failure(**json.loads((folder / FAILURE_FILE).read_bytes())))
        return None

    def write_to_memory(self, descriptor: int) -> None:
        """Leaves the report in a file in memory, for a disk that is full."""
        with open(descriptor, "wb", closefd=False) as memory:
            pickle.dump(self, memory)

    @classmethod
    def read_from_memory(cls, descriptor: int) -> Self | None:
        """Returns the report in a file in memory; None if there is none."""
        with open(descriptor, "rb", closefd=False) as memory:
            memory.seek(0)
            try:
                report = pickle.load(memory)  # noqa: S301  written by our own child process
            except (EOFError, pickle.UnpicklingError):  # nothing, or it died while it wrote
                return None
        assert isinstance(report, cls)
        return report


def execute(data: bytes) -> Report:
    """Runs a payload in this process and returns what came of it; raises nothing but KeyboardInterrupt."""
    try:
        value = payload.load(data)()
    except KeyboardInterrupt:  # meant for the whole program, not for the function
        raise
    except SystemExit as request:
        if request.code not in (None, 0):
            return Report(failure=Failure.of(request))
        value = None
    except BaseException as error:  # noqa: BLE001  the edge between the user's code and ours
        return Report(failure=Failure.of(error))
    try:
        return Report(value=cloudpickle.dumps(value), printed=_printed(value))
    except Exception as error:  # noqa: BLE001  whatever the value's own pickling raises
        kind = f"{type(value).__module__}.{type(value).__qualname__}"
        message = f"its return value (a {kind}) cannot be pickled: {_message(error)}"
        return Report(failure=Failure(error_type=type(error).__name__, message=message, traceback=""))


def _printed(value: Any) -> str:
    form = reprlib.Repr()
    form.maxdict = form.maxlist = form.maxtuple = form.maxset = form.maxfrozenset = form.maxdeque = MOST_ITEMS
    form.maxstring = form.maxlong = form.maxother = LONGEST_PART
    try:
        return form.repr(value)
    except Exception as error:  # noqa: BLE001  of the user's own class
        return f"a {type(value).__name__} that cannot be printed ({type(error).__name__})"


def _message(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return f"it called sys.exit({error.code!r})"
    if isinstance(error, KeyboardInterrupt) and not error.args:
        return "KeyboardInterrupt: the function raised it, or its process got the signal SIGINT"
    try:
        told = (
            error.args[0] if isinstance(error, KeyError) and error.args else error
        )  # else in quotes, with escapes
        text = telling_line(str(told), empty_lines()) or str(error)
        return f"{type(error).__name__}: {text}"
    except Exception as unprintable:  # noqa: BLE001  of the user's own class
        return f"{type(error).__name__}, whose message could not be printed ({type(unprintable).__name__})"


def _write_whole(path: Path, data: bytes) -> None:
    temporary = path.with_suffix(".tmp")
    temporary.write_bytes(data)
    os.replace(temporary, path)
