from __future__ import annotations

from importlib import metadata

import pytest

from hopyard.cli.doctor.extras import HIDDEN, check_extras, check_pyspark, installed_version
from hopyard.cli.doctor.finding import Finding, Verdict

pytestmark = pytest.mark.unit

LINES = [
    "numpy>=2",
    'optuna>=4.5; extra == "search"',
    'scipy>=1.13; extra == "search"',
    'pytest>=8; extra == "testing"',
    'hopyard-hops; extra == "hops"',
]


def findings(**installed: str) -> dict[str, Finding]:
    found = check_extras(installed.get, LINES)
    return {finding.subject: finding for finding in found}


def test_an_extra_that_is_there_shows_its_versions() -> None:
    search = findings(optuna="4.6.0", scipy="1.17")["search"]
    assert (search.verdict, search.text) == (Verdict.OK, "optuna 4.6.0, scipy 1.17")


def test_an_extra_of_which_something_is_missing_says_how_to_install_it() -> None:
    search = findings(optuna="4.6.0")["search"]
    assert search.verdict is Verdict.ABSENT
    assert search.text == "not installed: scipy; pip install 'hopyard[search]'"


def test_a_package_that_is_too_old_is_a_problem() -> None:
    search = findings(optuna="3.6", scipy="1.17")["search"]
    assert search.verdict is Verdict.PROBLEM
    assert search.text == "wrong version: optuna 3.6 (needs >=4.5); pip install 'hopyard[search]'"


def test_frameworks_without_an_extra_are_listed_too() -> None:
    assert findings()["JAX"].text == "not installed: pip install jax"
    assert findings(jax="0.10")["JAX"].text == "0.10"


def test_every_extra_that_is_for_users_is_listed() -> None:
    extras = set(metadata.metadata("hopyard").get_all("Provides-Extra") or ()) - set(HIDDEN)
    facades = {"hops", "tensorflowonspark"}
    assert extras - facades <= {finding.subject for finding in check_extras()}


def test_either_distribution_of_tensorflow_will_do() -> None:
    assert installed_version("tensorflow") == installed_version("tensorflow-cpu")


def test_what_is_not_installed_has_no_version() -> None:
    assert installed_version("no-such-foo") is None


# --- Spark -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["4.0.0", "4.0.5", "4.3.0"])
def test_a_pyspark_that_is_supported_is_fine(version: str) -> None:
    finding = check_pyspark({}, {"pyspark": version}.get)
    assert (finding.verdict, finding.text) == (Verdict.OK, version)


@pytest.mark.parametrize("version", ["3.5.9", "4.4.0"])
def test_another_pyspark_is_a_problem(version: str) -> None:
    finding = check_pyspark({}, {"pyspark": version}.get)
    assert finding.verdict is Verdict.PROBLEM
    assert finding.text == f"{version} is not supported: pip install 'pyspark>=4.0,<4.4'"


def test_an_installation_of_spark_connect_alone_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hopyard.spark.session.supported.find_spec", {}.get)
    finding = check_pyspark({}, {"pyspark-client": "4.2.0"}.get)
    assert finding.verdict is Verdict.PROBLEM
    assert finding.text.startswith("pyspark-client 4.2.0 speaks only Spark Connect")


def test_no_pyspark_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hopyard.spark.session.supported.find_spec", {}.get)
    finding = check_pyspark({}, {}.get)
    assert (finding.verdict, finding.text) == (Verdict.PROBLEM, "not installed: pip install 'hopyard[spark]'")


def test_a_pyspark_that_is_only_on_the_path_is_found() -> None:
    assert check_pyspark({}, {}.get).verdict is Verdict.OK


@pytest.mark.parametrize(("name", "value"), [("SPARK_REMOTE", "sc://here"), ("SPARK_API_MODE", "connect")])
def test_an_environment_that_asks_for_spark_connect_is_a_problem(name: str, value: str) -> None:
    finding = check_pyspark({name: value}, {"pyspark": "4.3.0"}.get)
    assert finding.verdict is Verdict.PROBLEM
    assert f"unset {name}" in finding.text
