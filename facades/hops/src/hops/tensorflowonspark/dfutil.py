"""Raises what `tensorflowonspark.dfutil` does: it comes with a later release."""

from tensorflowonspark.dfutil import *  # noqa: F403
