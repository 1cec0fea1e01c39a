"""What stands between rows in a queue; ``from tensorflowonspark import marker``."""

from __future__ import annotations


class Marker:
    """Something in a queue of rows that is no row."""


class EndPartition(Marker):
    """Stands after the last row of a partition whose rows want results."""
