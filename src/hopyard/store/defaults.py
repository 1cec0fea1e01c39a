"""Which project is meant when a program names none: what the environment says, then the user's own."""

from __future__ import annotations

import getpass
import json
from collections.abc import Mapping

from hopyard.errors import InvalidSetting

ROOT_VARIABLE = "HOPYARD_ROOT"
NAME_VARIABLE = "HOPYARD_PROJECT"
OPTIONS_VARIABLE = "HOPYARD_STORAGE_OPTIONS"
REACHED_VARIABLE = "HOPYARD_REACHED_ROOT"
USER_ROOT = "~/.hopyard"
EXAMPLE = 'write it as in {"key": "value"}'


def default_root(environment: Mapping[str, str]) -> str:
    """Returns the root of all projects."""
    return environment.get(ROOT_VARIABLE) or USER_ROOT


def default_name(environment: Mapping[str, str]) -> str:
    """Returns the name of the project."""
    return environment.get(NAME_VARIABLE) or getpass.getuser()


def default_options(environment: Mapping[str, str]) -> dict[str, object]:
    """Returns how to connect to the store.

    Raises:
        InvalidSetting: The variable is not a JSON object.
    """
    text = environment.get(OPTIONS_VARIABLE)
    if not text:
        return {}
    try:
        options = json.loads(text)
    except ValueError as error:
        raise InvalidSetting(OPTIONS_VARIABLE, f"it is not JSON ({error}); {EXAMPLE}") from error
    if not isinstance(options, dict):
        raise InvalidSetting(OPTIONS_VARIABLE, f"it is not a JSON object; {EXAMPLE}")
    return options


def variables(root: str, name: str, options: Mapping[str, object]) -> dict[str, str]:
    """Returns the environment in which another process means this project when it names none.

    This process has reached the store, or sees to that: the other one need not make sure again, and has patience
    with an outage from its first call on.
    """
    return {
        ROOT_VARIABLE: root,
        NAME_VARIABLE: name,
        OPTIONS_VARIABLE: json.dumps(dict(options)),
        REACHED_VARIABLE: root,
    }
