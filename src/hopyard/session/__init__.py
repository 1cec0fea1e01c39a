"""The Spark session: an embedded one with real executors, the active one, and its settings.

Importing this package does not load pyspark.
"""

from __future__ import annotations

from hopyard.session.active import active_spark
from hopyard.session.local import local_spark
from hopyard.session.settings import SessionSettings

__all__ = ["SessionSettings", "active_spark", "local_spark"]
