"""What `hopyard doctor` has to say about one thing."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Verdict(Enum):
    """How a thing stands: fine, absent without harm, or in the way."""

    OK = "ok"
    ABSENT = "absent"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of the doctor's report."""

    subject: str
    verdict: Verdict
    text: str


def ok(subject: str, text: str) -> Finding:
    """Returns that something is fine."""
    return Finding(subject=subject, verdict=Verdict.OK, text=text)


def absent(subject: str, text: str) -> Finding:
    """Returns that something is not there, which not everyone needs."""
    return Finding(subject=subject, verdict=Verdict.ABSENT, text=text)


def problem(subject: str, text: str) -> Finding:
    """Returns that something is in the way, with what to do."""
    return Finding(subject=subject, verdict=Verdict.PROBLEM, text=text)
