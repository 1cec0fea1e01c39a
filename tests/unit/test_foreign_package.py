"""PyPI's packages beside our facades: what is found at import, and where it is not looked for."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hopyard.errors import ForeignPackage
from hopyard.foreign_package import FACADES, MARK, State, refuse_foreign, state_of

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    "metadata", ["hops-3.8.0.0.dist-info", "hops-3.8.0.0.egg-info", "Hops-3.8.0.0.dist-info"]
)
def test_package_of_the_same_name_in_the_same_folder_is_refused(tmp_path, metadata):
    (tmp_path / metadata).mkdir()
    with pytest.raises(ForeignPackage, match=r"hops 3\.8\.0\.0 .* pip uninstall -y hops && pip install"):
        refuse_foreign("hops", str(tmp_path / "hops" / "__init__.py"))


@pytest.mark.parametrize(
    "metadata", ["hopyard_hops-0.1.0.dist-info", "hops_util-1.0.dist-info", "hops-notes"]
)
def test_other_packages_in_the_folder_are_not_its_business(tmp_path, metadata):
    (tmp_path / metadata).mkdir()
    refuse_foreign("hops", str(tmp_path / "hops" / "__init__.py"))


def test_facade_in_an_archive_has_no_neighbours(tmp_path):
    archive = tmp_path / "job.zip"
    archive.touch()
    refuse_foreign("hops", str(archive / "hops" / "__init__.py"))


@pytest.mark.parametrize("name", FACADES)
def test_facade_of_this_installation_is_in_order(name):
    assert state_of(name, sys.path) is State.OURS


@pytest.mark.parametrize("name", FACADES)
def test_facade_carries_the_mark_that_tells_it_from_the_other(name):
    facade = __import__(name)
    assert facade.__hopyard__
    assert MARK in Path(facade.__file__).read_bytes()
