"""Whether the connections of a run are encrypted: who decides. Apart from the wire, which takes long to import."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from hopyard.errors import InvalidSetting, MissingDependency

VARIABLE = "HOPYARD_TLS"
_SWITCH = {"1": True, "0": False, "": None}


def uses_tls(
    *, given: bool | None, by_default: Callable[[], bool], environ: Mapping[str, str] = os.environ
) -> bool:
    """Returns whether the connections of a run are encrypted: as its user says, else HOPYARD_TLS, else its cluster.

    Args:
        given: What the user said; None for nothing.
        by_default: Tells whether the cluster encrypts its own connections; asked only where nobody said anything.
        environ: Where HOPYARD_TLS is looked for.

    Raises:
        InvalidSetting: HOPYARD_TLS is neither 1 nor 0.
        MissingDependency: They are, and the package `cryptography` is not installed.
    """
    wanted = _of_environment(environ) if given is None else given
    if wanted is None:
        wanted = by_default()
    if wanted:
        _require_cryptography()
    return wanted


def _of_environment(environ: Mapping[str, str]) -> bool | None:
    text = environ.get(VARIABLE, "")
    if text not in _SWITCH:
        raise InvalidSetting(f"{VARIABLE}={text!r}", "give 1 to encrypt all connections of runs, or 0 not to")
    return _SWITCH[text]


def _require_cryptography() -> None:
    try:
        import cryptography  # noqa: F401
    except ImportError as error:
        raise MissingDependency("cryptography", "a wire with TLS", "tls") from error
