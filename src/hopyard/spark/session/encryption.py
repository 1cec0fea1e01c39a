"""Whether Spark encrypts its own connections."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark import SparkConf

SETTINGS = ("spark.ssl.enabled", "spark.ssl.rpc.enabled", "spark.network.crypto.enabled")


def encrypts(conf: SparkConf) -> bool:
    """Returns whether a Spark application was told to encrypt what its processes say to each other."""
    return any(str(conf.get(name, "false")).lower() == "true" for name in SETTINGS)
