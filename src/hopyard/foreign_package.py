"""Packages of others under the names of our facades: found before they do harm.

PyPI has a ``hops`` and a ``tensorflowonspark`` that write files of the same names as ``hopyard-hops`` and
``hopyard-tensorflowonspark``. pip lets the one that is installed last overwrite the other, and removes what they
share when either is uninstalled. Neither shows in ``pip check``.
"""

from __future__ import annotations

import os
from importlib.util import find_spec

import hopyard
from hopyard.errors import DamagedFacade, ForeignPackage

FACADES = ("hops", "tensorflowonspark")
METADATA = (".dist-info", ".egg-info")


def refuse_foreign(name: str, file: str) -> None:
    """Raises if PyPI's package of this name is installed in the folder that a facade was loaded from.

    Args:
        name: The facade.
        file: Its ``__init__.py``.

    Raises:
        ForeignPackage: Both are installed; some files are the one's and some the other's.
    """
    folder = os.path.dirname(os.path.dirname(file))
    if not os.path.isdir(folder):  # in an archive, where nothing is installed
        return
    for entry in os.listdir(folder):  # importlib.metadata would take 40 ms longer
        stem, suffix = os.path.splitext(entry)
        if suffix in METADATA and stem.lower().startswith(f"{name}-"):
            raise ForeignPackage(name, stem[len(name) + 1 :], requirement(name))


def find_conflict(name: str) -> ForeignPackage | DamagedFacade | None:
    """Returns what is wrong with a facade, without importing it; None if it is in order or not installed."""
    if _version(f"hopyard-{name}") is None:
        return None
    foreign = _version(name)
    if foreign is not None:
        return ForeignPackage(name, foreign, requirement(name))
    spec = find_spec(name)
    is_whole = spec is not None and bool(spec.submodule_search_locations) and spec.origin is not None
    return None if is_whole else damaged(name)


def damaged(name: str) -> DamagedFacade:
    """Returns the error for a facade whose files were removed with PyPI's package of the same name."""
    return DamagedFacade(name, requirement(name))


def requirement(name: str) -> str:
    """Returns what pip is to install for a facade: the version that belongs to this Hopyard."""
    return f"hopyard-{name}=={hopyard.__version__}"


def _version(distribution: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version  # slow, and a facade's import does without

    try:
        return version(distribution)
    except PackageNotFoundError:
        return None
