from __future__ import annotations

import json
import pickle

import pytest

from hopyard.errors import InvalidMessage
from hopyard.wire import Endpoint

pytestmark = pytest.mark.unit

ENDPOINT = Endpoint(host="10.0.0.7", port=4040, token="s3cr3t", certificate="-----BEGIN")


def test_repr_shows_where_but_neither_token_nor_certificate() -> None:
    assert repr(ENDPOINT) == "Endpoint(host='10.0.0.7', port=4040)"


def test_json_brings_back_an_equal_endpoint() -> None:
    assert Endpoint.from_json(json.loads(json.dumps(ENDPOINT.to_json()))) == ENDPOINT


def test_pickle_brings_back_an_equal_endpoint() -> None:
    assert pickle.loads(pickle.dumps(ENDPOINT)) == ENDPOINT


@pytest.mark.parametrize("broken", [{"port": "4040"}, {"token": 1}, {"certificate": 1}, {"host": None}])
def test_json_of_another_shape_is_refused_without_showing_the_token(broken: dict[str, object]) -> None:
    with pytest.raises(InvalidMessage) as caught:
        Endpoint.from_json({**ENDPOINT.to_json(), **broken})  # type: ignore[dict-item]
    assert "s3cr3t" not in str(caught.value)


def test_an_ipv6_host_stands_in_brackets() -> None:
    assert Endpoint(host="::1", port=1, token="t").uri == "grpc+tcp://[::1]:1"


def test_a_certificate_asks_for_tls() -> None:
    assert ENDPOINT.uri == "grpc+tls://10.0.0.7:4040"
