"""TensorFlowOnSpark's names, on Hopyard: old programs run as they are.

Everything here is translation. What the functions do, and their newer and fuller forms, is in `hopyard`.
"""

__version__ = "2.2.5"  # the release whose names and arguments these are; programs compare it
