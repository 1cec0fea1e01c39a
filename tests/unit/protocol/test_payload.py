from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
from functools import partial
from pathlib import Path

import pytest

from hopyard.errors import NotPicklable
from hopyard.protocol.payload import Call, dump, load

pytestmark = pytest.mark.unit

A_LOCK = threading.Lock()


def uses_a_global() -> None:
    A_LOCK.acquire()


def calls_another() -> None:
    uses_a_global()


class Holder:
    def method(self) -> object:
        return A_LOCK


def round_trip(function: object, *positional: object, **keywords: object) -> object:
    call = Call(function=function, positional=positional, keywords=keywords)  # type: ignore[arg-type]
    return load(dump(call, user=call))()


def refusal(function: object, *positional: object, **keywords: object) -> NotPicklable:
    call = Call(function=function, positional=positional, keywords=keywords)  # type: ignore[arg-type]
    with pytest.raises(NotPicklable) as caught:
        dump(call, user=call)
    return caught.value


def test_a_lambda_travels() -> None:
    assert round_trip(lambda x: x + 1, 1) == 2


def test_the_source_travels_for_tracebacks_where_the_file_is_not(tmp_path: Path) -> None:
    """As that of a cell in a notebook, which is in no file."""
    make = f"""
        import linecache, sys
        from hopyard.protocol.payload import Call, dump
        text = "def inner(x):\\n    return 1 / x\\n\\ndef fail(x):\\n    return inner(x)\\n"
        linecache.cache["cell.py"] = (len(text), None, text.splitlines(True), "cell.py")
        exec(compile(text, "cell.py", "exec"))
        call = Call(function=fail, positional=(0,))
        open({str(tmp_path / "payload")!r}, "wb").write(dump(call, user=call))
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(make)], check=True)
    run = f"""
        from pathlib import Path
        from hopyard.worker.execution import execute
        print(execute(Path({str(tmp_path / "payload")!r}).read_bytes()).failure.traceback)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(run)], check=True, capture_output=True, text=True
    )
    assert "    return inner(x)\n" in done.stdout
    assert "    return 1 / x\n" in done.stdout


def test_a_builtin_and_a_partial_travel() -> None:
    assert round_trip(max, 1, 3) == 3
    assert round_trip(partial(max, 5), 3) == 5


def test_a_module_that_executors_lack_travels_with_its_function(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "SCALE = 3\ndef inner(x): return x * SCALE\ndef outer(x): return inner(x) + 1\n"
    )
    make = f"""
        import sys; sys.path.insert(0, {str(tmp_path)!r})
        import mine
        from hopyard.protocol.payload import Call, dump
        call = Call(function=mine.outer, positional=(2,))
        sys.stdout.buffer.write(dump(call, user=call))
    """
    payload = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(make)], check=True, capture_output=True
    ).stdout
    (tmp_path / "mine.py").unlink()
    assert load(payload)() == 7


@pytest.mark.parametrize(
    ("refused", "culprit"),
    [
        (
            lambda: refusal(uses_a_global),
            "the global variable 'A_LOCK' (a _thread.lock), used in 'uses_a_global'",
        ),
        (
            lambda: refusal(calls_another),
            "the global variable 'A_LOCK' (a _thread.lock), used in 'uses_a_global'",
        ),
        (
            lambda: refusal(Holder().method),
            "the global variable 'A_LOCK' (a _thread.lock), used in 'Holder.method'",
        ),
        (lambda: refusal(print, A_LOCK), "argument 1 (a _thread.lock)"),
        (lambda: refusal(print, sep=A_LOCK), "argument 'sep' (a _thread.lock)"),
    ],
)
def test_the_refusal_names_the_variable_at_fault(refused: object, culprit: str) -> None:
    error = refused()  # type: ignore[operator]
    assert error.culprit == culprit
    assert culprit in str(error)
    assert "cannot pickle '_thread.lock' object" in str(error)


def test_the_refusal_names_a_closure_variable_and_a_default() -> None:
    lock = threading.Lock()

    def closes_over() -> object:
        return lock

    def defaults(x: object = lock) -> object:
        return x

    assert "the closure variable 'lock'" in str(refusal(closes_over))
    assert "the default value" in str(refusal(defaults))
