"""TensorFlowOnSpark's names, on Hopyard: old programs run as they are.

Everything here is translation. What the functions do, and their newer and fuller forms, is in `hopyard`.
"""

from hopyard.foreign_package import refuse_foreign as _refuse_foreign

__hopyard__ = True  # what tells it from PyPI's package of the same name
_refuse_foreign(__name__, __file__)

__version__ = "2.2.5"  # the release whose names and arguments these are; programs compare it
