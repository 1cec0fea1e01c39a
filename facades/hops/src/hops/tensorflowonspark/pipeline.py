"""Raises what `tensorflowonspark.pipeline` does: it comes with a later release."""

from tensorflowonspark.pipeline import *  # noqa: F403
