"""Errors of the facades: the packages that they are in, and what they do not offer."""

from __future__ import annotations

from hopyard.errors.base import HopyardError


class ForeignPackage(HopyardError, ImportError):
    """Another package of the same name shares its folder with a facade."""

    package: str
    version: str
    requirement: str
    text = (
        "PyPI's {package} {version} and Hopyard's {package} are both installed and overwrite each "
        "other's files. Run: pip uninstall -y {package} && "
        "pip install --force-reinstall --no-deps {requirement}"
    )


class DamagedFacade(HopyardError, ImportError):
    """Files of a facade are gone, because another package of the same name was uninstalled."""

    package: str
    requirement: str
    text = (
        "files of Hopyard's {package} are missing: uninstalling PyPI's {package} removed them. Run: "
        "pip install --force-reinstall --no-deps {requirement}"
    )


class NotOffered(HopyardError, NotImplementedError):
    """Something that an old library had and its facade has not, or not on this store."""

    feature: str
    reason: str
    text = "{feature} is not offered: {reason}."


class ModuleNotOffered(HopyardError, ImportError):
    """A module that an old library had and its facade has not."""

    module: str
    instead: str
    text = "There is no {module} in Hopyard yet. Instead, {instead}."


class ServiceNotOffered(HopyardError, ImportError):
    """A module of the Hops library that was a client of a HopsWorks cluster's own services."""

    module: str
    purpose: str
    instead: str
    text = (
        "{module} {purpose}, and needs a HopsWorks cluster, which Hopyard does without. Instead, {instead}."
    )


class BadReservationAddress(HopyardError, PermissionError):
    """The address of a driver that is to end its stream is not the one that it wrote to its log."""

    address: str
    reason: str
    text = (
        "The address {address} cannot be used: {reason}. Copy it from the driver's log, from the line "
        "'listening for reservations at', with all that stands before the @."
    )


class NoExecutorId(HopyardError, FileNotFoundError):
    """The working folder of this process does not say which executor it is."""

    folder: str
    text = (
        "no executor has left its number in {folder}. Inside a training function it is "
        "ctx.executor_id; elsewhere call util.write_executor_id() first."
    )
