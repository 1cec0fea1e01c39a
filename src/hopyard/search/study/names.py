"""The names of studies: which study a name means, and that no two studies of a project share one."""

from __future__ import annotations

import hashlib
import json
import logging
import re
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from typing import Literal

from hopyard.errors import (
    AlreadyExists,
    AmbiguousRun,
    InvalidSearch,
    PathNotFound,
    StudyBusy,
    StudyExists,
    StudyNotFound,
)
from hopyard.store import Project
from hopyard.tracking import RunRecord, list_studies, study_record
from hopyard.tracking.age import age_of
from hopyard.tracking.driver_process import DriverProcess

LOG = logging.getLogger(__name__)
IF_EXISTS: Literal["if_exists"] = "if_exists"
Resume = bool | Literal["if_exists"]
START_SECONDS = 60.0  # within which a study that has its name is in the project


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyName:
    """What a call says of the study that it wants.

    Attributes:
        given: The name; None if there is none.
        function: The name of the function, which a study without a name gets, with a number if that is taken.
        resume: True for a study that exists, False for a new one, ``"if_exists"`` for either.
    """

    given: str | None
    function: str
    resume: Resume = False

    def earlier(self, project: Project) -> RunRecord | None:
        """Returns the study to go on with; None if there is to be a new one.

        A call without a name means the newest study of its function.

        Raises:
            InvalidSearch: `resume` is something else.
            StudyNotFound: It is to be resumed, and there is none.
            AmbiguousRun: Several have this name, which an earlier release allowed.
            StudyExists: It is to be a new one, and the name is taken.
        """
        if self.resume not in (True, False, IF_EXISTS):
            raise InvalidSearch(f"resume={self.resume!r} is not valid", "Give True, False or 'if_exists'")
        if self.resume is False:
            if self.given is not None:
                _check_free(project, self.given)
            return None
        found = self._found(project)
        if not found and self.resume is True:
            names = tuple(dict.fromkeys(study.name for study in list_studies(project)))
            raise StudyNotFound(self.given or self.function, project.path, names)
        if self.given is not None and len(found) > 1:
            raise AmbiguousRun(self.given, tuple(f"{study.id} ({study.name})" for study in found))
        return found[0] if found else None

    @contextmanager
    def taken(self, project: Project, *, age: Callable[[Project, str], float] = age_of) -> Iterator[str]:
        """Yields the name of a new study, which no other driver can take while the context is open.

        Args:
            project: Where the study is to be kept.
            age: Returns how many seconds ago a file was written.

        Raises:
            StudyExists: There is a study of this name.
            StudyBusy: Another driver is about to start one.
        """
        with ExitStack() as claim:
            if self.given is not None:
                name = claim.enter_context(_claimed(project, self.given, age))
            else:
                name = self._next(project, claim, age)
            yield name

    def _next(self, project: Project, claim: ExitStack, age: Callable[[Project, str], float]) -> str:
        for name in numbered(self.function):
            with suppress(StudyExists, StudyBusy):
                return claim.enter_context(_claimed(project, name, age))
        raise AssertionError("numbers do not end")

    def _found(self, project: Project) -> Sequence[RunRecord]:
        if self.given is None:
            numbers = re.compile(rf"{re.escape(self.function)}(-\d+)?")
            return list_studies(project, lambda study: numbers.fullmatch(study.name) is not None)
        named = list_studies(project, lambda study: study.name == self.given)
        return named or list_studies(project, lambda study: str(study.id) == self.given)


def numbered(name: str) -> Iterator[str]:
    """Yields a name, and then the same with numbers from 2."""
    yield name
    yield from (f"{name}-{number}" for number in count(2))


def fresh_name(project: Project, name: str) -> str:
    """Returns a name that no study has: this one, or this one with a number."""
    taken = {study.name for study in list_studies(project)}
    return next(each for each in numbered(name) if each not in taken)


def _check_free(project: Project, name: str) -> None:
    for study in list_studies(project, lambda study: study.name == name):
        record = study_record(project, study.id)
        counts = {} if record is None else record.counts
        trials = sum(number for number in counts.values() if isinstance(number, int))
        raise StudyExists(name, str(study.id), trials)


@contextmanager
def _claimed(project: Project, name: str, age: Callable[[Project, str], float]) -> Iterator[str]:
    """Holds a name that no study has; a claim that its driver has left behind is taken over."""
    digest = hashlib.sha256(name.encode()).hexdigest()[:32]
    path = f"{project.layout.logs}/.study-names/{digest}"
    driver = DriverProcess.this().to_json()
    claim = json.dumps({"name": name, "driver": driver, "token": uuid.uuid4().hex}).encode()
    try:
        project.create(path, claim)
    except AlreadyExists:
        _check_left(project, path, name, age)
        project.put(path, claim)
    try:
        _check_free(project, name)
        yield name
    finally:
        _let_go(project, path, claim)


def _check_left(project: Project, path: str, name: str, age: Callable[[Project, str], float]) -> None:
    """Checks that whoever claimed a name is gone, or has a study by now, which the list of studies then tells."""
    try:
        driver = DriverProcess.from_json(json.loads(project.read(path)).get("driver", {}))
        seconds = age(project, path)
    except PathNotFound:
        return  # it has just been let go
    if driver is not None and driver.lives() is False:
        return
    if seconds < START_SECONDS:
        _check_free(project, name)
        raise StudyBusy(name, str(driver or "an unknown process"), seconds, START_SECONDS - seconds)


def _let_go(project: Project, path: str, claim: bytes) -> None:
    try:
        if project.read(path) == claim:
            project.remove(path)
    except OSError as error:  # it is taken over when its time has come
        LOG.info("the claim of a study's name was not removed: %s", error)
