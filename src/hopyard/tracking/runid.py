"""The name of a run: which application started it, what kind it is, and its number; or of a trial in it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hopyard.errors import InvalidName

# No leading zeros: a run has one spelling, so ids compare as text.
_RUN_ID = re.compile(
    r"(?P<app_id>[^/]+)/(?P<kind>[^/]+)/run\.(?P<number>0|[1-9][0-9]*)(/(?P<trial>[^/]+(/[^/]+)?))?"
)
_RUN_FOLDER = re.compile(r"run\.(0|[1-9][0-9]*)")


@dataclass(frozen=True, slots=True, order=True)
class RunId:
    """Identifies one run in a project, or one trial of a run that is a study.

    As text it is ``<app_id>/<kind>/run.<number>``, and for a trial the name of its folder follows.

    Attributes:
        app_id: The Spark application, for example ``local-1700000000000``.
        kind: What was started: ``launcher``, ``grid_search``, …
        number: Counts the runs of this kind in this application, from 1.
        trial: The trial's folder in that of the run, such as ``generation.2/x=1``; empty for the run itself.
    """

    app_id: str
    kind: str
    number: int
    trial: str = ""

    @classmethod
    def of(cls, run_id: RunId | str) -> RunId:
        """Returns an id that is one, or is spelled as text, as results of runs have it; raises as `parse`."""
        return cls.parse(run_id) if isinstance(run_id, str) else run_id

    def __str__(self) -> str:
        run = f"{self.app_id}/{self.kind}/run.{self.number}"
        return f"{run}/{self.trial}" if self.trial else run

    @classmethod
    def parse(cls, text: str) -> RunId:
        """Returns the id that `text` spells.

        Raises:
            InvalidName: `text` is not of the form ``<app_id>/<kind>/run.<number>``, or that and a trial.
        """
        match = _RUN_ID.fullmatch(text)
        if match is None:
            raise InvalidName(text, "a run id reads <application>/<kind>/run.<number>")
        return cls(match["app_id"], match["kind"], int(match["number"]), match["trial"] or "")


def run_number(folder_name: str) -> int | None:
    """Returns the number in a run folder's name, or None where the name is not one of a run folder."""
    match = _RUN_FOLDER.fullmatch(folder_name)
    return int(match[1]) if match else None
