"""What is uploaded to PyPI: wheels and source archives as they are built from this folder."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import hopyard
from hopyard.foreign_package import FACADES

pytestmark = pytest.mark.cluster

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = {"hopyard": ".", **{name: f"facades/{name}" for name in FACADES}}
BESIDE = {  # modules that say what is wrong when the package itself cannot
    "hopyard": set(),
    "hops": {"hops.py"},
    "tensorflowonspark": {"tensorflowonspark.py", "_hopyard_facades.py", "hopyard_facades.pth"},
}
LINK = re.compile(r"\]\(([^)\s]+)\)")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    for source in FOLDERS.values():
        subprocess.run(
            [sys.executable, "-m", "hatchling", "build", "-d", str(folder)],
            cwd=ROOT / source,
            check=True,
            capture_output=True,
        )
    return folder


def stem(package: str) -> str:
    return ("hopyard" if package == "hopyard" else f"hopyard_{package}") + f"-{hopyard.__version__}"


def metadata(built: Path, package: str) -> str:
    with zipfile.ZipFile(built / f"{stem(package)}-py3-none-any.whl") as wheel:
        return wheel.read(f"{stem(package)}.dist-info/METADATA").decode()


@pytest.mark.parametrize("package", FOLDERS)
def test_wheel_has_one_package_and_its_types(built, package):
    with zipfile.ZipFile(built / f"{stem(package)}-py3-none-any.whl") as wheel:
        names = wheel.namelist()
    tops = {name.partition("/")[0] for name in names}
    expected = {package, f"{stem(package)}.dist-info"}
    assert tops == expected | BESIDE[package]
    assert f"{package}/py.typed" in names


@pytest.mark.parametrize("package", FOLDERS)
def test_page_on_pypi_has_no_links_that_lead_nowhere(built, package):
    links = LINK.findall(metadata(built, package))
    assert links
    assert [link for link in links if not link.startswith(("https://", "#"))] == []


@pytest.mark.parametrize("package", FOLDERS)
def test_metadata_says_where_the_project_lives(built, package):
    named = re.findall(r"^Project-URL: (\w+),", metadata(built, package), re.MULTILINE)
    assert {"Homepage", "Documentation", "Source", "Changelog", "Issues"} <= set(named)


def test_source_archive_has_the_tests_the_documents_and_the_changes(built):
    with tarfile.open(built / f"{stem('hopyard')}.tar.gz") as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {
        "CHANGELOG.md",
        "LICENSE",
        "Makefile",
        "constraints.txt",
        "docs/README.md",
        "facades/hops/pyproject.toml",
        "tests/conftest.py",
        "tests/unit/test_scratch.py",
    }
    assert wanted - names == set()
    assert [name for name in names if name.startswith((".venv", ".ci"))] == []
