"""The Hops Python library's names, on Hopyard: old programs run as they are.

Everything here is translation. What the functions do, and their newer and fuller forms, is in `hopyard`;
``docs/migrating-from-hops.md`` puts the two side by side.
"""

from hopyard.foreign_package import refuse_foreign as _refuse_foreign

__hopyard__ = True  # what tells it from PyPI's package of the same name
_refuse_foreign(__name__, __file__)

from hops.services import find_services as _find_services  # noqa: E402  files of PyPI's package are refused before

_find_services()

__version__ = "2.5.0.0"  # the last release whose names and arguments these are; programs compare it
