"""Which optional packages are there, extra by extra, and whether this pyspark is one that Hopyard works with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import metadata

from hopyard.cli.doctor.finding import Finding, absent, ok, problem
from hopyard.cli.doctor.requirement import Requirement, by_extra
from hopyard.spark.session.supported import CONNECT_MODE, SPARK_BOUNDS, pyspark_version

SUPPORTED_SPARK = Requirement(name="pyspark", bounds=SPARK_BOUNDS)
# Those that our own developers need are no user's business.
HIDDEN = ("testing",)
# Distributions that bring the same packages.
SAME = {"tensorflow": ("tensorflow", "tensorflow-cpu"), "tensorflow-cpu": ("tensorflow-cpu", "tensorflow")}
# Frameworks that Hopyard looks after where they are, and that no extra of its own brings.
FRAMEWORKS = {"JAX": "jax", "Keras": "keras"}

Version = Callable[[str], str | None]


def installed_version(distribution: str) -> str | None:
    """Returns the version of an installed distribution, or None where it is not installed."""
    for name in SAME.get(distribution, (distribution,)):
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return None


def check_extras(
    version: Version = installed_version, lines: Sequence[str] | None = None
) -> Iterator[Finding]:
    """Yields which extras are there; nothing is imported, that would take seconds each.

    Args:
        version: Tells the version of a distribution.
        lines: What the metadata of Hopyard asks for; those of this Hopyard if not given.
    """
    for extra, requirements in by_extra(own_requirements() if lines is None else lines).items():
        if extra not in HIDDEN and not _is_facade(requirements):
            yield check_extra(extra, requirements, version)
    for name, distribution in FRAMEWORKS.items():
        found = version(distribution)
        yield ok(name, found) if found else absent(name, f"not installed: pip install {distribution}")


def own_requirements() -> list[str]:
    """Returns what the metadata of this Hopyard asks for; nothing if it is not installed but on the path."""
    try:
        return metadata.requires("hopyard") or []
    except metadata.PackageNotFoundError:
        return []


def check_extra(extra: str, requirements: Sequence[Requirement], version: Version) -> Finding:
    """Tells whether all packages of an extra are there, in versions that serve."""
    found = {each: version(each.name) for each in requirements}
    missing = [each.name for each, installed in found.items() if installed is None]
    unfit = [
        f"{each.name} {installed} (needs {each.bounds})"
        for each, installed in found.items()
        # pyspark has a line of its own
        if installed is not None and each.name != SUPPORTED_SPARK.name and not each.is_met_by(installed)
    ]
    command = f"pip install 'hopyard[{extra}]'"
    if unfit:
        return problem(extra, f"wrong version: {', '.join(unfit)}; {command}")
    if missing:
        return absent(extra, f"not installed: {', '.join(missing)}; {command}")
    return ok(extra, ", ".join(f"{each.name} {installed}" for each, installed in found.items()))


def _is_facade(requirements: Sequence[Requirement]) -> bool:
    return all(each.name.startswith("hopyard-") for each in requirements)


# --- Spark -----------------------------------------------------------------------------------------


def check_pyspark(environ: Mapping[str, str], version: Version = installed_version) -> Finding:
    """Tells whether there is a pyspark that Hopyard works with."""
    found = version("pyspark") or pyspark_version()
    right = f"pip install '{SUPPORTED_SPARK.name}{SUPPORTED_SPARK.bounds}'"
    if found is None:
        client = version("pyspark-client")
        if client is not None:
            return problem(
                "pyspark",
                f"pyspark-client {client} speaks only Spark Connect, which Hopyard cannot use: {right}",
            )
        return problem("pyspark", "not installed: pip install 'hopyard[spark]'")
    if not SUPPORTED_SPARK.is_met_by(found):
        return problem("pyspark", f"{found} is not supported: {right}")
    remote = next((name for name in ("SPARK_REMOTE", CONNECT_MODE) if environ.get(name)), None)
    if environ.get("SPARK_API_MODE", "").lower() == "connect":
        remote = "SPARK_API_MODE"
    if remote is not None:
        return problem(
            "pyspark", f"{remote} makes sessions use Spark Connect, which Hopyard cannot: unset {remote}"
        )
    return ok("pyspark", found)
