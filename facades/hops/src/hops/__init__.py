"""The Hops Python library's names, on Hopyard: old programs run as they are.

Everything here is translation. What the functions do, and their newer and fuller forms, is in `hopyard`;
``docs/migrating-from-hops.md`` puts the two side by side.
"""

from hopyard.foreign_package import refuse_foreign as _refuse_foreign

__hopyard__ = True  # what tells it from PyPI's package of the same name
_refuse_foreign(__name__, __file__)
