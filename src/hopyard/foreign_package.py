"""Packages of others under the names of our facades: found before they do harm.

PyPI has a ``hops`` and a ``tensorflowonspark`` that write files of the same names as ``hopyard-hops`` and
``hopyard-tensorflowonspark``. pip lets the one that is installed last overwrite the other, and removes what they
share when either is uninstalled. Neither shows in ``pip check``.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import os
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

import hopyard
from hopyard.errors import DamagedFacade, ForeignPackage

if TYPE_CHECKING:
    from importlib.metadata import Distribution

FACADES = ("hops", "tensorflowonspark")
MARK = b"__hopyard__ = True"
_METADATA = (".dist-info", ".egg-info")


class State(Enum):
    """What is installed under the name of a facade."""

    NOTHING = "nothing"
    OURS = "ours"
    FOREIGN = "foreign"  # only PyPI's package
    BOTH = "both"  # their files overwrite each other
    DAMAGED = "damaged"  # ours, with files that are gone or not ours


def refuse_foreign(name: str, file: str) -> None:
    """Raises if PyPI's package of this name is installed in the folder that a facade was loaded from.

    Args:
        name: The facade.
        file: Its ``__init__.py``.

    Raises:
        ForeignPackage: Both are installed; some files are the one's and some the other's.
    """
    foreign = _version(name, os.path.dirname(os.path.dirname(file)))
    if foreign is not None:
        raise ForeignPackage(name, foreign, requirement(name))


def refuse_overwritten(name: str) -> None:
    """Raises if PyPI's package of this name has been installed over a facade, whose own code then no longer runs.

    Raises:
        ForeignPackage: That is so.
        DamagedFacade: Something else has overwritten it.
    """
    from importlib.machinery import PathFinder

    spec = PathFinder.find_spec(name)
    if spec is None or spec.origin is None or os.path.basename(spec.origin) != "__init__.py":
        return
    folder = os.path.dirname(os.path.dirname(spec.origin))
    if _version(f"hopyard_{name}", folder) is None or MARK in Path(spec.origin).read_bytes():
        return
    refuse_foreign(name, spec.origin)
    raise damaged(name)


def state_of(name: str, path: Sequence[str]) -> State:
    """Returns what is installed under the name of a facade, whose files are all looked at, but not imported.

    Args:
        name: The name of the package, which is also that of PyPI's distribution; ours is ``hopyard-<name>``.
        path: The folders with installed packages, as in ``sys.path``.
    """
    ours, foreign = _distribution(f"hopyard-{name}", path), _distribution(name, path)
    if ours is None:
        return State.NOTHING if foreign is None else State.FOREIGN
    if foreign is not None:
        return State.BOTH
    return State.OURS if _is_intact(ours) else State.DAMAGED


def damaged(name: str) -> DamagedFacade:
    """Returns the error for a facade whose files were removed with PyPI's package of the same name."""
    return DamagedFacade(name, requirement(name))


def requirement(name: str) -> str:
    """Returns what pip is to install for a facade: the version that belongs to this Hopyard."""
    return f"hopyard-{name}=={hopyard.__version__}"


def _version(distribution: str, folder: str) -> str | None:
    """Returns the version of a distribution in a folder; importlib.metadata would take 40 ms longer."""
    if not os.path.isdir(folder):  # in an archive, where nothing is installed
        return None
    for entry in os.listdir(folder):
        stem, suffix = os.path.splitext(entry)
        if suffix in _METADATA and stem.lower().startswith(f"{distribution}-"):
            return stem[len(distribution) + 1 :]
    return None


def _distribution(name: str, path: Sequence[str]) -> Distribution | None:
    from importlib import metadata  # slow, and a facade's import does without

    return next(iter(metadata.distributions(name=name, path=list(path))), None)


def _is_intact(distribution: Distribution) -> bool:
    """Whether all files are there and as they were installed; what pip compiled is not looked at."""
    # not its `files`, from which Python 3.12 leaves out those that are missing
    rows = csv.reader((distribution.read_text("RECORD") or "").splitlines())
    hashes = ((name, digest.partition("=")) for name, digest, _ in rows if digest)
    return all(
        _digest(kind, Path(str(distribution.locate_file(name)))) == value for name, (kind, _, value) in hashes
    )


def _digest(kind: str, file: Path) -> str | None:
    """Returns the hash of a file as pip notes it; None if it is not there."""
    if not file.is_file():
        return None
    return base64.urlsafe_b64encode(hashlib.new(kind, file.read_bytes()).digest()).rstrip(b"=").decode()
