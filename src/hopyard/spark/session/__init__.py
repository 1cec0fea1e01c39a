"""The Spark session: an embedded one with real executors, the active one, and its settings.

Importing this package does not load pyspark.
"""

from __future__ import annotations

from hopyard.spark.session.active import active_context, active_spark
from hopyard.spark.session.local import local_spark
from hopyard.spark.session.settings import SessionSettings

__all__ = ["SessionSettings", "active_context", "active_spark", "local_spark"]
