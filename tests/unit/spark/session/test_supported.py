from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import hopyard
from hopyard.errors import SparkUnusable
from hopyard.spark.session.active import usable_context
from hopyard.spark.session.supported import check_version, pyspark_version, require_pyspark

pytestmark = pytest.mark.unit

# The classes of Spark Connect need packages that nothing else of ours needs; what is looked at is where they are from.
ConnectSession = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})
ConnectFrame = type("DataFrame", (), {"__module__": "pyspark.sql.connect.dataframe"})


def train(x: int = 1, ctx: object = None) -> float:
    return float(x)


def fed(call: Callable[[hopyard.Cluster], object]) -> None:
    with hopyard.Cluster(train, backend="processes", feed=True) as cluster:
        call(cluster)


@pytest.mark.parametrize("version", ["4.0.0", "4.3.0", "4.4.0.dev1", "10.0"])
def test_pyspark_from_4_on_is_taken(version: str) -> None:
    check_version(version)


@pytest.mark.parametrize("version", ["3.5.5", "3.5", "2.4.8"])
def test_an_older_one_is_refused_with_the_command_that_installs_another(version: str) -> None:
    with pytest.raises(SparkUnusable) as caught:
        check_version(version)
    assert str(caught.value) == (
        f"Hopyard cannot use this Spark: pyspark {version} is older than 4.0. "
        "Install another one: pip install 'pyspark>=4.0,<4.4'."
    )


def test_the_version_is_read_without_an_import() -> None:
    import pyspark

    assert pyspark_version() == pyspark.__version__
    require_pyspark("this test")


def test_pyspark_in_a_zip_file_is_taken(tmp_path: Path) -> None:
    zipped = tmp_path / "pyspark.zip"
    with zipfile.ZipFile(zipped, "w") as file:
        file.writestr("pyspark/__init__.py", "")
        file.writestr("pyspark/core/__init__.py", "")
    program = (
        f"import sys; sys.path.insert(0, {str(zipped)!r})\n"
        "from hopyard.spark.session.supported import require_pyspark; require_pyspark('this test')"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


@pytest.mark.parametrize(
    "call",
    [
        lambda: hopyard.launch(train, spark=ConnectSession()),
        lambda: hopyard.Cluster(train, spark=ConnectSession()).start(),
        lambda: hopyard.search(train, {"x": [1, 2]}, trials=1, spark=ConnectSession()),
        lambda: hopyard.grid_search(train, {"x": [1, 2]}, spark=ConnectSession()),
        lambda: fed(lambda cluster: cluster.train(ConnectFrame())),
        lambda: fed(lambda cluster: cluster.train(ConnectFrame(), validation="held_out")),
        lambda: fed(lambda cluster: cluster.inference(ConnectFrame())),
    ],
    ids=["launch", "Cluster", "search", "grid_search", "train", "train with validation", "inference"],
)
def test_spark_connect_is_refused_everywhere(call: Callable[[], object]) -> None:
    with pytest.raises(SparkUnusable, match=r"Spark Connect, .*Start the session without \.remote\(\.\.\.\)"):
        call()


@pytest.mark.parametrize("call", [lambda: hopyard.launch(train), hopyard.local_spark])
def test_a_process_that_speaks_spark_connect_is_refused(
    call: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_CONNECT_MODE_ENABLED", "1")
    with pytest.raises(SparkUnusable, match=r"a session of Spark Connect\. Call \.stop\(\) on that"):
        call()


def test_what_is_no_session_is_refused_with_its_value() -> None:
    given: object = "local[2]"
    with pytest.raises(SparkUnusable, match=r"spark='local\[2\]' is no session\. Give a SparkSession\.$"):
        usable_context(given, "a run")  # type: ignore[arg-type]
