"""Errors of records: runs that are not there, or cannot be changed, removed or brought back."""

from __future__ import annotations

from hopyard.errors.base import HopyardError


class CorruptRecord(HopyardError, ValueError):
    """A stored record that cannot be understood."""

    path: str
    reason: str
    text = "{path} does not hold a readable record: {reason}."


class RunNotFound(HopyardError, LookupError):
    """No run of the project answers to a text."""

    text: str
    project: str
    near: str | None = None
    runs: tuple[str, ...] | None = None

    def __str__(self) -> str:
        guess = f" Did you mean {self.near!r}?" if self.near else ""
        return (
            f"there is no run {self.text!r} in {self.project}.{guess}{self._there()} Give an id, the start or end of "
            "an id, a name, a folder, or 'last'; `hopyard runs` lists all runs."
        )

    def _there(self) -> str:
        if self.runs is None:
            return ""
        more = f" and {len(self.runs) - 5} more" if len(self.runs) > 5 else ""
        return f" Its runs: {', '.join(self.runs[:5])}{more}." if self.runs else " It has no runs yet."


class NoSuchStudy(RunNotFound):
    """No study of the project answers to a text; `runs` are the studies that there are."""

    def __str__(self) -> str:
        guess = f" Did you mean {self.near!r}?" if self.near else ""
        return (
            f"there is no study {self.text!r} in {self.project}.{guess}{self._there()} Give a name, an id or the end of "
            "one, or 'last'; `hopyard studies` lists all studies."
        )

    def _there(self) -> str:
        return super()._there().replace("Its runs:", "Its studies:").replace("no runs", "no studies")


class AmbiguousRun(HopyardError, LookupError):
    """More than one run of the project answers to a text."""

    text: str
    candidates: tuple[str, ...]

    def __str__(self) -> str:
        shown = ", ".join(self.candidates[:10])
        more = f" and {len(self.candidates) - 10} more" if len(self.candidates) > 10 else ""
        return f"{self.text!r} fits {len(self.candidates)} runs: {shown}{more}. Give a whole id, or 'last' for the newest run."


class RunFileNotFound(HopyardError, FileNotFoundError):
    """A run has no file of a name."""

    run_id: str
    name: str
    near: str | None = None
    files: tuple[str, ...] = ()

    def __str__(self) -> str:
        guess = f" Did you mean {self.near!r}?" if self.near else ""
        more = f" and {len(self.files) - 5} more" if len(self.files) > 5 else ""
        there = (
            f"Its files: {', '.join(self.files[:5])}{more}."
            if self.files
            else "It has none: save them in ctx.logdir."
        )
        return f"run {self.run_id} has no file {self.name!r}.{guess} {there}"


class RunIsRunning(HopyardError, RuntimeError):
    """A run that goes on was to be removed."""

    run_id: str
    text = "run {run_id} is still running. Wait for its end, or stop its program, then remove it."


class RunEnded(HopyardError, RuntimeError):
    """A run that has ended was to be changed."""

    run_id: str
    state: str
    text = "run {run_id} has already ended ({state}); start a new run instead."


class NotInTrash(HopyardError, LookupError):
    """No removed run answers to a text."""

    text: str
    project: str

    def __str__(self) -> str:
        return f"there is no run {self.text!r} in the trash of {self.project}; `hopyard trash` lists those that are."


class RunNumberTaken(HopyardError, FileExistsError):
    """A run cannot come back from the trash: there is another one with its id."""

    run_id: str
    text = "a newer run has the id {run_id}. Remove that one first."


class StudyNameTaken(HopyardError, FileExistsError):
    """A study cannot come back from the trash under a name that another one has."""

    run_id: str
    name: str
    other: str
    text = (
        "{run_id} cannot come back as {name!r}: the study {other} has this name. Give it another "
        "one with `hopyard restore {run_id} --name NAME`, or remove {other} first."
    )
