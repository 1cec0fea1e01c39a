from __future__ import annotations

import pytest

from hopyard.control.coordinator import Coordinator
from hopyard.control.driver_wire import CoordinatorService, driver_address
from hopyard.control.gang import Gang, Timeouts
from hopyard.errors import RemoteError
from hopyard.protocol.plan import Plan
from hopyard.wire import WireClient, WireServer
from hopyard.worker.lease import REGISTER

pytestmark = pytest.mark.unit


def test_a_coordinator_answers_over_the_wire_and_tells_what_is_wrong_with_a_message() -> None:
    service = CoordinatorService(Coordinator(Gang(Plan.of(1), Timeouts(), now=0.0)))
    with WireServer(service, address="127.0.0.1") as server, WireClient(server.endpoint) as client:
        answer = client.call(REGISTER, {"rank": 0, "incarnation": "a", "address": "b:1", "host": "c"})
        assert answer["members"] == {"chief": ["b:1"]}
        with pytest.raises(RemoteError, match="rank 7 is none of the 1 nodes"):
            client.call(REGISTER, {"rank": 7, "incarnation": "a", "address": "b:1", "host": "c"})


def test_the_driver_is_reached_where_spark_says_or_where_the_setting_says() -> None:
    assert driver_address("127.0.0.1", environ={}) == "127.0.0.1"
    assert driver_address("localhost", environ={}) == "127.0.0.1"
    assert driver_address("192.0.2.77", environ={"HOPYARD_NETWORK": "lo"}) == "127.0.0.1"


def test_a_driver_host_that_is_not_this_machine_is_told_with_the_address_used_instead(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert driver_address("no.such.host.invalid", environ={"SPARK_LOCAL_IP": "127.0.0.1"}) == "127.0.0.1"
    assert "nodes are told to call 127.0.0.1: set HOPYARD_NETWORK" in caplog.text
