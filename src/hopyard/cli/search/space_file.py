"""The space of a search in a file: YAML, or JSON if its name says so."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from hopyard.errors import InvalidSetting

EXAMPLE = "dropout: {low: 0.1, high: 0.7}"
FLOAT = "tag:yaml.org,2002:float"
# YAML 1.1, which PyYAML follows, takes 1e-4 for text; YAML 1.2, JSON and everybody else take it for a number.
EXPONENT = re.compile(r"^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)[eE][-+]?[0-9]+$")


def read_space(path: Path) -> dict[str, object]:
    """Returns what each parameter may be, in the order of the file.

    Raises:
        InvalidSetting: There is no such file, it cannot be understood, or it holds something else.
    """
    setting = f"--space {path}"
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError as error:
        raise InvalidSetting(setting, "there is no such file; check the path") from error
    except UnicodeDecodeError as error:
        raise InvalidSetting(
            setting, f"it is not text in UTF-8 ({error.reason}); give a YAML or JSON file"
        ) from error
    value = from_json(setting, text) if path.suffix == ".json" else from_yaml(setting, text)
    if not isinstance(value, dict):
        kind = "nothing" if value is None else f"a {type(value).__name__}"
        raise InvalidSetting(setting, f"it holds {kind}; write parameters by name, as in {EXAMPLE}")
    return value


def from_json(setting: str, text: str) -> object:
    """Returns the value that JSON text spells.

    Raises:
        InvalidSetting: It spells none.
    """
    try:
        value: object = json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidSetting(setting, f"line {error.lineno}, column {error.colno}: {error.msg}") from error
    return value


def from_yaml(setting: str, text: str) -> object:
    """Returns the value that YAML text spells.

    Raises:
        InvalidSetting: It spells none.
    """
    import yaml

    loader: Any = type("SpaceLoader", (yaml.SafeLoader,), {})
    loader.add_implicit_resolver(FLOAT, EXPONENT, list("-+.0123456789"))
    try:
        value: object = yaml.load(text, Loader=loader)  # noqa: S506  it is a SafeLoader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        at = "" if mark is None else f"line {mark.line + 1}, column {mark.column + 1}: "
        raise InvalidSetting(setting, f"{at}{error.problem or error}") from error
    except yaml.YAMLError as error:
        raise InvalidSetting(setting, str(error).partition("\n")[0]) from error
    return value
