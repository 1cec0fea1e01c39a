from __future__ import annotations

import pytest

from hopyard.backends.driver_address import driver_address

pytestmark = pytest.mark.unit


def test_the_driver_is_reached_where_spark_says_or_where_the_setting_says() -> None:
    assert driver_address("127.0.0.1", environ={}) == "127.0.0.1"
    assert driver_address("localhost", environ={}) == "127.0.0.1"
    assert driver_address("192.0.2.77", environ={"HOPYARD_NETWORK": "lo"}) == "127.0.0.1"


def test_a_driver_host_that_is_not_this_machine_is_told_with_the_address_used_instead(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert driver_address("no.such.host.invalid", environ={"SPARK_LOCAL_IP": "127.0.0.1"}) == "127.0.0.1"
    assert "nodes are told to call 127.0.0.1: set HOPYARD_NETWORK" in caplog.text
