"""Whether the facades are ours and whole: PyPI has packages of the same names, and pip lets them overwrite ours."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from hopyard.cli.doctor.finding import Finding, absent, ok, problem
from hopyard.foreign_package import FACADES, State, state_of


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
