"""What a slot and its process say to each other: run this trial, and how it ended."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from hopyard.codec.json_value import Json
from hopyard.codec.records import from_json, to_json
from hopyard.tracking import TrialState

ORDERS = "HOPYARD_ORDERS"
BEGUN, ENDED = "begun", "ended"
PAYLOAD_FILE = "payload.pickle"
ENDING_FILE = "ending.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialOrder:
    """One trial, as its process is told of it.

    Attributes:
        arguments: What the function gets, pickled.
        environment: The variables that make the process this trial.
        folder: Where its ending is to be left.
        token: A line that marks the end of the trial's output.
    """

    arguments: bytes
    environment: Mapping[str, str] = field(repr=False)
    folder: str
    token: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a trial ended.

    Attributes:
        state: FINISHED, PRUNED or FAILED.
        values: One for each objective.
        result: What else the function returned.
        returned_as: What the value is called, if no metric was named.
        error_type: Class name of what went wrong.
        error: What went wrong, in a sentence.
        traceback: The user's traceback.
        left: What the trial left in its process that spoils it for another, in words; empty if nothing.
    """

    state: TrialState
    values: tuple[float, ...] = ()
    result: Mapping[str, Json] = field(default_factory=dict)
    returned_as: str = ""
    error_type: str | None = None
    error: str | None = None
    traceback: str | None = None
    left: str = ""

    def write(self, folder: Path) -> None:
        """Leaves the ending in a folder, whole or not at all."""
        folder.mkdir(exist_ok=True)  # the function may have removed it
        temporary = folder / f"{ENDING_FILE}.tmp"
        temporary.write_text(json.dumps(to_json(self)), "utf-8")
        os.replace(temporary, folder / ENDING_FILE)

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """Returns the ending in a folder; None if the trial's process left none."""
        try:
            told = json.loads((folder / ENDING_FILE).read_bytes())
        except FileNotFoundError:
            return None
        return from_json(cls, told)
