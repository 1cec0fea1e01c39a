"""The name of a run: which application started it, what kind it is, and its number."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hopyard.errors import InvalidName

# No leading zeros: a run has one spelling, so ids compare as text.
_RUN_ID = re.compile(r"(?P<app_id>[^/]+)/(?P<kind>[^/]+)/run\.(?P<number>0|[1-9][0-9]*)")
_RUN_FOLDER = re.compile(r"run\.(0|[1-9][0-9]*)")


@dataclass(frozen=True, slots=True, order=True)
class RunId:
    """Identifies one run in a project; as text it is ``<app_id>/<kind>/run.<number>``.

    Attributes:
        app_id: The Spark application, for example ``local-1700000000000``.
        kind: What was started: ``launcher``, ``grid_search``, …
        number: Counts the runs of this kind in this application, from 1.
    """

    app_id: str
    kind: str
    number: int

    def __str__(self) -> str:
        return f"{self.app_id}/{self.kind}/run.{self.number}"

    @classmethod
    def parse(cls, text: str) -> RunId:
        """Returns the id that `text` spells.

        Raises:
            InvalidName: `text` is not of the form ``<app_id>/<kind>/run.<number>``.
        """
        match = _RUN_ID.fullmatch(text)
        if match is None:
            raise InvalidName(text, "a run id reads <application>/<kind>/run.<number>")
        return cls(match["app_id"], match["kind"], int(match["number"]))


def run_number(folder_name: str) -> int | None:
    """Returns the number in a run folder's name, or None where the name is not one of a run folder."""
    match = _RUN_FOLDER.fullmatch(folder_name)
    return int(match[1]) if match else None
