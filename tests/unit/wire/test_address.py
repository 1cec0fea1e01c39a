from __future__ import annotations

import ipaddress

import pytest

from hopyard.errors import NoSuchAddress
from hopyard.wire import routable_address
from hopyard.wire.address import interfaces

pytestmark = pytest.mark.unit

NOWHERE = "203.0.113.0/24"  # kept for documentation: no machine has it


def test_the_loopback_is_among_the_interfaces() -> None:
    loopbacks = [interface for interface in interfaces() if interface.loopback]
    assert [(interface.name, interface.address) for interface in loopbacks] == [("lo", "127.0.0.1")]


@pytest.mark.parametrize(
    ("network", "address"),
    [
        ("lo", "127.0.0.1"),
        ("127.0.0.0/8", "127.0.0.1"),
        ("127.3.2.1", "127.3.2.1"),
        ("127.0.0.1/8", "127.0.0.1"),
    ],
)
def test_a_network_is_an_interface_an_address_or_a_cidr(network: str, address: str) -> None:
    assert routable_address(network) == address


@pytest.mark.parametrize("network", [NOWHERE, "203.0.113.5", "no-such-interface", "0.0.0.0", "::"])
def test_a_network_that_this_machine_is_not_in_is_refused_with_a_list_of_what_there_is(network: str) -> None:
    with pytest.raises(NoSuchAddress, match=r"lo 127\.0\.0\.1") as caught:
        routable_address(network)
    assert caught.value.wanted == network


def test_the_environment_names_the_network() -> None:
    assert routable_address(environ={"HOPYARD_NETWORK": "127.4.0.1"}) == "127.4.0.1"


def test_the_argument_goes_before_the_environment() -> None:
    assert routable_address("127.5.0.1", environ={"HOPYARD_NETWORK": NOWHERE}) == "127.5.0.1"


def test_a_peer_decides_by_the_route_to_it() -> None:
    assert routable_address(peer="127.0.0.9", environ={"SPARK_LOCAL_IP": NOWHERE}) == "127.0.0.1"


def test_a_peer_that_cannot_be_found_is_an_error() -> None:
    with pytest.raises(NoSuchAddress, match=r"no-such-host\.invalid"):
        routable_address(peer="no-such-host.invalid", environ={})


def test_spark_s_own_setting_is_followed() -> None:
    assert routable_address(environ={"SPARK_LOCAL_IP": "127.6.0.1"}) == "127.6.0.1"


def test_without_any_hint_the_address_is_one_of_this_machine_and_never_the_wildcard() -> None:
    address = routable_address(environ={})
    assert not ipaddress.ip_address(address).is_unspecified
    assert routable_address(address) == address


def test_without_any_hint_loopback_is_the_last_resort() -> None:
    outside = [interface for interface in interfaces() if not interface.loopback]
    assert (routable_address(environ={}) == "127.0.0.1") == (not outside)
