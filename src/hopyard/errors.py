"""Every exception class of Hopyard.

All descend from `HopyardError` and each is also the built-in that a caller would catch anyway. The
constructor takes raw fields and hands them to ``super().__init__`` unchanged, and the text is made in
``__str__``: that is what lets an error cross a process border by pickle.
"""

from __future__ import annotations


class HopyardError(Exception):
    """Root of all errors that Hopyard raises on purpose."""


# --- store -----------------------------------------------------------------------------------------


class InvalidName(HopyardError, ValueError):
    """A name or relative path that a project cannot hold."""

    def __init__(self, value: str, reason: str) -> None:
        super().__init__(value, reason)
        self.value = value
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.value!r} cannot be used as a name in a project: {self.reason}."


class PathNotFound(HopyardError, FileNotFoundError):
    """A path that a caller asked for is not in the store."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path

    def __str__(self) -> str:
        return f"there is nothing at {self.path}."


class AlreadyExists(HopyardError, FileExistsError):
    """A write-once path is taken."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path

    def __str__(self) -> str:
        return f"{self.path} exists already and is not overwritten; choose another name or pass overwrite=True."


class UnsupportedStore(HopyardError, ValueError):
    """The URL of a project root names a protocol that nobody here speaks."""

    def __init__(self, url: str, known: str) -> None:
        super().__init__(url, known)
        self.url = url
        self.known = known

    def __str__(self) -> str:
        return f"no store is known for {self.url!r}; a project root is a local path or one of: {self.known}."


class MissingDependency(HopyardError, ImportError):
    """A package that an optional part needs is not installed."""

    def __init__(self, package: str, needed_for: str, extra: str) -> None:
        super().__init__(package, needed_for, extra)
        self.package = package
        self.needed_for = needed_for
        self.extra = extra

    def __str__(self) -> str:
        return f"{self.needed_for} needs the package {self.package!r}: pip install 'hopyard[{self.extra}]'."


# --- tracking --------------------------------------------------------------------------------------


class CorruptRecord(HopyardError, ValueError):
    """A stored record that cannot be understood."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.path} does not hold a readable record: {self.reason}."


class RunNotFound(HopyardError, LookupError):
    """No run of the project answers to a text."""

    def __init__(self, text: str, project: str) -> None:
        super().__init__(text, project)
        self.text = text
        self.project = project

    def __str__(self) -> str:
        return (
            f"no run in {self.project} answers to {self.text!r}; a run is named by its id, the end of its id, "
            "its name, or 'last'."
        )


class AmbiguousRun(HopyardError, LookupError):
    """More than one run of the project answers to a text."""

    def __init__(self, text: str, candidates: tuple[str, ...]) -> None:
        super().__init__(text, candidates)
        self.text = text
        self.candidates = candidates

    def __str__(self) -> str:
        shown = ", ".join(self.candidates[:10])
        more = f" and {len(self.candidates) - 10} more" if len(self.candidates) > 10 else ""
        return f"{self.text!r} may mean any of {len(self.candidates)} runs: {shown}{more}. Give more of the id."


class RunEnded(HopyardError, RuntimeError):
    """A run that has ended was to be changed."""

    def __init__(self, run_id: str, state: str) -> None:
        super().__init__(run_id, state)
        self.run_id = run_id
        self.state = state

    def __str__(self) -> str:
        return f"run {self.run_id} has ended already ({self.state}); its record is not changed any more."
