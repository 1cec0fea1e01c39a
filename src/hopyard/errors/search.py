"""Errors of a search: its space, its studies, its trials."""

from __future__ import annotations

from hopyard.errors.base import HopyardError


class InvalidSpace(HopyardError, ValueError):
    """A parameter of a search's space that cannot be searched."""

    parameter: str
    value: str
    remedy: str
    text = "the parameter {parameter!r} cannot be searched: it is {value}. {remedy}."


class InvalidSearch(HopyardError, ValueError):
    """A search was asked for something that cannot be, or that does not fit together."""

    what: str
    remedy: str
    text = "{what}. {remedy}."


class StudyNotFound(HopyardError, LookupError):
    """A study was to be resumed that is not there."""

    name: str
    project: str
    names: tuple[str, ...]

    def __str__(self) -> str:
        shown = ", ".join(self.names[:10])
        more = f" and {len(self.names) - 10} more" if len(self.names) > 10 else ""
        there = f"Its studies: {shown}{more}." if self.names else "It has no studies yet."
        return (
            f"there is no study {self.name!r} to resume in {self.project}. {there} To start a new one, "
            "leave out resume (--resume), or use resume='if_exists'."
        )


class StudyExists(HopyardError, ValueError):
    """A new study was to have the name of another one."""

    name: str
    study: str
    trials: int
    text = (
        "there is already a study {name!r}: {study}, trials: {trials}. Continue it with resume=True "
        "(--resume), or choose another name."
    )


class StudyBusy(HopyardError, RuntimeError):
    """A study is to be started or resumed while another driver may still be at it."""

    study: str
    driver: str
    seconds: float
    wait_seconds: float

    def __str__(self) -> str:
        wait = f", or wait {self.wait_seconds:.0f} s if it is dead" if self.wait_seconds else ""
        return (
            f"another program is running the study {self.study}: {self.driver}, which last wrote {self.seconds:.0f} s "
            f"ago. Stop that program, or give this study another name{wait}."
        )


class StudyFailed(HopyardError, RuntimeError):
    """A study was given up, since its trials fail."""

    study: str
    trials: int
    error: str
    trace: str

    def __str__(self) -> str:
        trace = f"\n\nTraceback of the last one:\n{self.trace.rstrip()}" if self.trace else ""
        return (
            f"the study {self.study} was stopped: its first {self.trials} trials all failed with the same error: "
            f"{self.error.rstrip('.')}. Fix the function, then go on with resume=True or start again under another "
            f"name; same_failures= allows more failures.{trace}"
        )


class TrialTimeout(HopyardError, TimeoutError):
    """A trial took longer than it may."""

    seconds: float
    text = "the trial took longer than {seconds:g} s. Allow more with trial_timeout=."


class BadResult(HopyardError, ValueError):
    """A trial's function returned something that cannot be compared."""

    value: str
    remedy: str
    text = "the function returned {value}. {remedy}."


class NothingFound(HopyardError, LookupError):
    """A study has no trial of the kind that was asked for."""

    what: str
    study: str
    trials: int
    error: str = ""

    def __str__(self) -> str:
        if not self.trials:
            return f"the study {self.study} has no {self.what}: it has no trials yet. Look again later."
        none = (
            f"the study {self.study} has no {self.what}: none of its {self.trials} trials ended with a value"
        )
        if not self.error:
            return f"{none}. What became of them is in `study.trials`."
        return f"{none}. {self.error.rstrip('.')}. All errors are in `study.trials`."
