from __future__ import annotations

import sys

import pytest

from hopyard.errors import InvalidSetting, MissingDependency
from hopyard.run.encryption import uses_tls

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("given", "variable", "cluster", "expected"),
    [
        (None, None, False, False),
        (None, None, True, True),
        (None, "", True, True),
        (None, "0", True, False),
        (None, "1", False, True),
        (False, "1", True, False),
        (True, "0", False, True),
    ],
)
def test_the_option_decides_then_the_variable_then_the_cluster(
    given: bool | None, variable: str | None, cluster: bool, expected: bool
) -> None:
    environ = {} if variable is None else {"HOPYARD_TLS": variable}
    assert uses_tls(given=given, by_default=lambda: cluster, environ=environ) is expected


def test_a_variable_that_is_neither_1_nor_0_is_refused() -> None:
    with pytest.raises(InvalidSetting, match=r"^HOPYARD_TLS='yes' cannot be used: give 1 .* or 0 not to\.$"):
        uses_tls(given=None, by_default=lambda: False, environ={"HOPYARD_TLS": "yes"})


def test_what_to_install_is_told_before_anything_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography", None)
    assert not uses_tls(given=False, by_default=lambda: True, environ={})
    with pytest.raises(MissingDependency, match=r"pip install 'hopyard\[tls\]'"):
        uses_tls(given=True, by_default=lambda: False, environ={})
