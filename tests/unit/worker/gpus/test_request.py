"""A node is shown its GPUs and no others, whoever gave them to it."""

from __future__ import annotations

import pytest

from hopyard.errors import GpusUnknown, InvalidDevices, NoFreeGpu, TooFewGpus
from hopyard.worker.gpus.request import DeviceRequest, claim

pytestmark = pytest.mark.unit


def shown(gpus=None, fraction=None, *, given=None, environ, wait_seconds=0.0) -> dict[str, str]:
    """Returns the variables of a claim that is over."""
    request = DeviceRequest(gpus=gpus, fraction=fraction)
    with claim(request, given=given, environ=environ, wait_seconds=wait_seconds) as variables:
        return variables


@pytest.mark.parametrize("gpus", [-1, 1.0, True, "1"])
def test_number_of_gpus_that_cannot_be_is_refused(gpus):
    with pytest.raises(InvalidDevices, match="gpus_per_node="):
        DeviceRequest(gpus=gpus)


@pytest.mark.parametrize("fraction", [0, -0.5, 1.5, float("nan"), True, "half"])
def test_fraction_that_cannot_be_is_refused(fraction):
    with pytest.raises(InvalidDevices, match="gpu_fraction="):
        DeviceRequest(fraction=fraction)


@pytest.mark.parametrize("gpus", [0, 2])
def test_fraction_of_anything_but_one_gpu_is_refused(gpus):
    with pytest.raises(InvalidDevices, match=rf"gpu_fraction=0\.5 .* gpus_per_node={gpus}"):
        DeviceRequest(gpus=gpus, fraction=0.5)


def test_node_that_leaves_it_to_spark_may_lease_a_gpu_where_spark_schedules_none(machine):
    environ = machine(2)
    request = DeviceRequest(unscheduled=1)
    with (
        claim(request, given=None, environ=environ) as first,
        claim(request, given=None, environ=environ) as second,
    ):
        assert {first["CUDA_VISIBLE_DEVICES"], second["CUDA_VISIBLE_DEVICES"]} == {"0", "1"}


def test_node_that_leaves_it_to_spark_does_without_gpu_on_a_machine_that_has_none(machine):
    with claim(DeviceRequest(unscheduled=1), given=None, environ=machine(0)) as variables:
        assert variables == {"CUDA_VISIBLE_DEVICES": ""}


@pytest.mark.parametrize("given", [None, [], ["0", "1"]])
def test_node_that_wants_no_gpu_sees_none(given, machine):
    assert shown(0, given=given, environ=machine(2)) == {"CUDA_VISIBLE_DEVICES": ""}


def test_node_without_wishes_sees_all_gpus_of_its_task():
    variables = shown(given=["2", "3"], environ={})
    assert variables == {"CUDA_VISIBLE_DEVICES": "2,3", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}


def test_node_of_a_task_without_gpus_sees_none():
    assert shown(given=[], environ={}) == {"CUDA_VISIBLE_DEVICES": ""}


def test_node_sees_as_many_gpus_of_its_task_as_it_wants():
    assert shown(1, given=["2", "3"], environ={})["CUDA_VISIBLE_DEVICES"] == "2"


def test_addresses_that_are_no_numbers_are_left_as_spark_gave_them():
    assert shown(given=["MIG-1a2b"], environ={}) == {"CUDA_VISIBLE_DEVICES": "MIG-1a2b"}


def test_order_that_the_administrator_set_for_the_addresses_stays():
    assert "CUDA_DEVICE_ORDER" not in shown(given=["1"], environ={"CUDA_DEVICE_ORDER": "FASTEST_FIRST"})


def test_task_with_too_few_gpus_is_told_with_the_settings():
    with pytest.raises(
        TooFewGpus,
        match=r"needs 2 GPU.*are 1 .*spark\.executor\.resource\.gpu\.amount and spark\.task\.resource\.gpu\.amount to 2",
    ):
        shown(2, given=["0"], environ={})


def test_share_of_a_gpu_that_the_task_has_not_is_told():
    with pytest.raises(TooFewGpus, match=r"needs 1 GPU.*are 0"):
        shown(fraction=0.5, given=[], environ={})


def test_share_is_of_the_first_gpu_of_the_task():
    variables = shown(fraction=0.5, given=["2", "3"], environ={})
    assert variables["CUDA_VISIBLE_DEVICES"] == "2"
    assert variables["HOPYARD_GPU_FRACTION"] == "0.5"


def test_node_without_wishes_and_without_spark_scheduling_sees_what_its_machine_shows():
    assert shown(given=None, environ={"CUDA_VISIBLE_DEVICES": "3"}) == {}


def test_gpus_of_the_machine_are_leased(machine):
    environ = machine(3)
    with claim(DeviceRequest(gpus=2), given=None, environ=environ) as first:
        assert first == {"CUDA_VISIBLE_DEVICES": "0,1", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
        assert shown(1, environ=environ)["CUDA_VISIBLE_DEVICES"] == "2"
        with pytest.raises(NoFreeGpu):
            shown(2, environ=environ)
    assert shown(1, environ=environ)["CUDA_VISIBLE_DEVICES"] == "0"


def test_nodes_with_a_share_see_the_same_gpu(machine):
    environ = machine(2)
    half = DeviceRequest(fraction=0.5)
    with (
        claim(half, given=None, environ=environ) as first,
        claim(half, given=None, environ=environ) as second,
        claim(half, given=None, environ=environ) as third,
    ):
        assert [each["CUDA_VISIBLE_DEVICES"] for each in (first, second, third)] == ["0", "0", "1"]
        assert first["HOPYARD_GPU_FRACTION"] == "0.5"


def test_whole_gpu_asked_for_as_a_fraction_has_no_limit(machine):
    assert set(shown(fraction=1.0, environ=machine(1))) == {"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"}


def test_only_gpus_that_the_administrator_allows_are_leased(machine):
    environ = machine(4) | {"CUDA_VISIBLE_DEVICES": "GPU-0003,1"}
    with claim(DeviceRequest(gpus=1), given=None, environ=environ) as first:
        assert first["CUDA_VISIBLE_DEVICES"] == "3"
        assert shown(1, environ=environ)["CUDA_VISIBLE_DEVICES"] == "1"


def test_more_gpus_than_the_administrator_allows_are_told_at_once(machine):
    environ = machine(4) | {"CUDA_VISIBLE_DEVICES": "1"}
    with pytest.raises(TooFewGpus, match=r"needs 2 GPU.*are 1 .*CUDA_VISIBLE_DEVICES='1'"):
        shown(2, environ=environ, wait_seconds=60)


def test_more_gpus_than_the_machine_has_are_told_at_once(machine):
    with pytest.raises(TooFewGpus, match=r"needs 3 GPU.*are 2 .*nvidia-smi"):
        shown(3, environ=machine(2), wait_seconds=60)


def test_machine_without_gpus_is_told(tmp_path):
    with pytest.raises(TooFewGpus, match=r"needs 1 GPU.*are 0"):
        shown(1, environ={"PATH": str(tmp_path)})


def test_broken_driver_is_not_taken_for_a_machine_without_gpus(nvidia_smi):
    with pytest.raises(GpusUnknown, match="no driver"):
        shown(1, environ=nvidia_smi("echo no driver; exit 9"))
