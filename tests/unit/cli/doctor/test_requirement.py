from __future__ import annotations

import pytest

from hopyard.cli.doctor.requirement import Requirement, by_extra

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("numpy", Requirement(name="numpy")),
        (
            "pyspark>=4.0,<4.4; extra == 'spark'",
            Requirement(name="pyspark", bounds=">=4.0,<4.4", extra="spark"),
        ),
        (
            'moto[s3, server]>=5; extra == "testing"',
            Requirement(name="moto", inner=("s3", "server"), bounds=">=5", extra="testing"),
        ),
        (
            "pandas (<3) ; python_version > '3' and extra == 'spark'",
            Requirement(name="pandas", bounds="<3", extra="spark"),
        ),
    ],
)
def test_a_line_of_metadata_is_understood(text: str, expected: Requirement) -> None:
    assert Requirement.parse(text) == expected


@pytest.mark.parametrize(
    ("bounds", "version", "is_met"),
    [
        (">=4.0,<4.4", "4.0", True),
        (">=4.0,<4.4", "4.3.0", True),
        (">=4.0,<4.4", "4.4.0", False),
        (">=4.0,<4.4", "3.5.9", False),
        (">=2.6", "2.10.1+cpu", True),
        (">=2.6", "2.6rc1", True),
        ("==1.0", "1.0.0", True),
        ("!=1.0", "1.0", False),
        ("~=1.4", "0.1", True),  # of a kind that we do not use
        ("", "0.1", True),
    ],
)
def test_a_version_is_within_its_bounds_or_not(bounds: str, version: str, is_met: bool) -> None:
    assert Requirement(name="x", bounds=bounds).is_met_by(version) is is_met


def test_extras_are_written_out() -> None:
    lines = ["numpy>=2", 'a>=1; extra == "x"', 'hopyard[x]; extra == "y"', 'b; extra == "y"']
    names = {extra: [each.name for each in found] for extra, found in by_extra(lines).items()}
    assert names == {"x": ["a"], "y": ["a", "b"]}
