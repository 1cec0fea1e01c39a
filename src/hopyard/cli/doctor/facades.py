"""Whether the facades are ours and whole: PyPI has packages of the same names, and pip lets them overwrite ours."""

from __future__ import annotations

import base64
import hashlib
import sys
from collections.abc import Iterator, Sequence
from enum import Enum
from importlib import metadata
from pathlib import Path

from hopyard.cli.doctor.finding import Finding, absent, ok, problem

FACADES = ("hops", "tensorflowonspark")


class State(Enum):
    """What is installed under the name of a facade."""

    NOTHING = "nothing"
    OURS = "ours"
    FOREIGN = "foreign"  # only PyPI's package
    BOTH = "both"  # their files overwrite each other
    DAMAGED = "damaged"  # ours, with files that are gone or not ours


def state_of(name: str, path: Sequence[str]) -> State:
    """Returns what is installed under the name of a facade.

    Args:
        name: The name of the package, which is also that of PyPI's distribution; ours is ``hopyard-<name>``.
        path: The folders with installed packages, as in ``sys.path``.
    """
    ours, foreign = _distribution(f"hopyard-{name}", path), _distribution(name, path)
    if ours is None:
        return State.NOTHING if foreign is None else State.FOREIGN
    if foreign is not None:
        return State.BOTH
    return State.OURS if all(map(_is_intact, ours.files or ())) else State.DAMAGED


def check_facades(path: Sequence[str] | None = None) -> Iterator[Finding]:
    """Yields how the facades stand, and the command that puts right what is wrong."""
    for name in FACADES:
        yield _finding(name, state_of(name, sys.path if path is None else path))


def _finding(name: str, state: State) -> Finding:
    again = f"pip install --force-reinstall --no-deps hopyard-{name}"
    if state is State.NOTHING:
        return absent(name, f"not installed: pip install 'hopyard[{name}]'")
    if state is State.OURS:
        return ok(name, "Hopyard's own")
    if state is State.FOREIGN:
        replace = f"pip uninstall -y {name} && pip install 'hopyard[{name}]'"
        return absent(name, f"PyPI's {name}, which does not use Hopyard; to have Hopyard's: {replace}")
    if state is State.BOTH:
        return problem(name, f"PyPI's {name} overwrites Hopyard's: pip uninstall -y {name} && {again}")
    return problem(name, f"files of Hopyard's {name} are missing or were overwritten: {again}")


def _distribution(name: str, path: Sequence[str]) -> metadata.Distribution | None:
    return next(iter(metadata.distributions(name=name, path=list(path))), None)


def _is_intact(file: metadata.PackagePath) -> bool:
    """Whether an installed file is there and as it was installed; what pip compiled is not looked at."""
    if file.hash is None:
        return True
    location = Path(str(file.locate()))
    if not location.is_file():
        return False
    digest = hashlib.new(file.hash.mode, location.read_bytes()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode() == file.hash.value
