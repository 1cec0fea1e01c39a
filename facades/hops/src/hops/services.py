"""Modules of the Hops library that were clients of HopsWorks' own services: importing one says what to use instead.

A finder at the end of Python's search does it, so that ``from hops import kafka``, ``import hops.kafka`` and
``from hops.kafka import get_broker_endpoints`` all raise the same sentence.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import NoReturn

from hopyard.errors import ServiceNotOffered

_PACKAGE = "hops"
_PROJECT = "hopyard.Project"

# by module: what it did, and what to use instead
SERVICES = {
    "beam": ("started Apache Beam and TFX jobs on a HopsWorks cluster", "use apache_beam's own runners"),
    "constants": ("named the REST paths and variables of HopsWorks", "leave the import out"),
    "credentials_provider": (
        "asked HopsWorks for AWS roles",
        "give Spark and s3fs their credentials as usual",
    ),
    "dataset": (
        "moved datasets over HopsWorks' REST service",
        "call hops.hdfs.copy_to_hdfs() and copy_to_local()",
    ),
    "elasticsearch": (
        "made settings for HopsWorks' Elasticsearch",
        "give the connector the address of yours",
    ),
    "exceptions": ("had the errors of HopsWorks' REST service", "catch hopyard.errors.HopyardError"),
    "experiment_impl": (
        "was the inside of hops.experiment on HopsWorks",
        "call the functions of hops.experiment",
    ),
    "facets": (
        "showed Google Facets in a HopsWorks notebook",
        "pip install facets-overview and call it directly",
    ),
    "featurestore": (
        "was the client of HopsWorks' feature store",
        "read and write tables with Spark (spark.read.parquet), and feed them with hopyard.Cluster",
    ),
    "hive": ("connected to HopsWorks' Hive", 'call spark.sql("...") on a session with Hive support'),
    "jobs": ("started jobs in HopsWorks", "start the program with spark-submit or `hopyard`"),
    "kafka": (
        "made settings for HopsWorks' Kafka brokers",
        'give spark.readStream.format("kafka") the addresses of yours, and feed the stream with hopyard.Cluster',
    ),
    "model": (
        "was the client of HopsWorks' model repository",
        "save models to hops.tensorboard.logdir(), or to Models/<name>/<version> with hops.hdfs.copy_to_hdfs()",
    ),
    "project": ("connected to a HopsWorks server", "set HOPYARD_ROOT and HOPYARD_PROJECT"),
    "secret": (
        "kept secrets in HopsWorks",
        "read them from the environment or from your own store of secrets",
    ),
    "service_discovery": (
        "found HopsWorks' services by DNS",
        "give addresses in the settings of each client",
    ),
    "serving": (
        "started model servers in HopsWorks",
        "copy the model with hops.hdfs.copy_to_local() and start TensorFlow Serving or TorchServe on it",
    ),
    "tls": ("gave the certificates of a HopsWorks project", "read your own certificates from their files"),
    "user": ("registered users in HopsWorks", "leave the import out"),
    "xattr": (
        "kept attributes of files in HopsWorks",
        f"keep them in a JSON file beside the data ({_PROJECT}.put)",
    ),
}


class ServiceFinder(MetaPathFinder):
    """Finds the modules that are not here, each with a loader that says so."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Returns the specification of a module that cannot be loaded; None if the name is none of these."""
        package, _, name = fullname.partition(".")
        if package != _PACKAGE or name not in SERVICES:
            return None
        return ModuleSpec(fullname, Refusal())


class Refusal(Loader):
    """Loads nothing."""

    def exec_module(self, module: ModuleType) -> NoReturn:
        """Says what the module did and what to use instead.

        Raises:
            ServiceNotOffered: Always.
        """
        purpose, instead = SERVICES[module.__name__.rpartition(".")[2]]
        raise ServiceNotOffered(module.__name__, purpose, instead)


def find_services() -> None:
    """Lets Python find these modules, after all that are really there."""
    if not any(isinstance(finder, ServiceFinder) for finder in sys.meta_path):
        sys.meta_path.append(ServiceFinder())
