import sys

import pytest

from hopyard.errors import MissingDependency, UnsupportedStore
from hopyard.store.location import Location
from hopyard.store.registry import KINDS, StoreKind, connect

pytestmark = pytest.mark.unit


def test_unknown_protocol_is_refused_and_the_known_ones_are_named() -> None:
    with pytest.raises(UnsupportedStore) as caught:
        connect(Location.parse("gopher://host/a"), {})
    assert all(f"{kind.protocol}://" in str(caught.value) for kind in KINDS)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.package], ids=lambda kind: kind.protocol)
def test_missing_package_is_named_with_the_extra_that_brings_it(
    kind: StoreKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, kind.package, None)
    monkeypatch.delitem(sys.modules, kind.module, raising=False)
    for module in ("fsspec.implementations.webhdfs", "hopyard.store.s3.bucket"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    with pytest.raises(MissingDependency) as caught:
        connect(Location.parse(f"{kind.protocol}://host/a"), {})
    assert kind.package in str(caught.value)
    assert f"hopyard[{kind.extra}]" in str(caught.value)
