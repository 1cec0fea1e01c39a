"""Whether Spark encrypts its own connections."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark import SparkContext

SETTINGS = ("spark.ssl.enabled", "spark.ssl.rpc.enabled", "spark.network.crypto.enabled")


def encrypts(context: SparkContext) -> bool:
    """Returns whether a Spark application was told to encrypt what its processes say to each other."""
    conf = context._conf  # noqa: SLF001  getConf() copies all
    return any(str(conf.get(name, "false")).lower() == "true" for name in SETTINGS)
