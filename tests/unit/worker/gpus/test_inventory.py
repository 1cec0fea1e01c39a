"""What nvidia-smi says becomes values; what it cannot say becomes an error with its words."""

from __future__ import annotations

import pytest

from hopyard.errors import GpusUnknown
from hopyard.worker.gpus.inventory import Gpu, allowed_gpus, list_gpus

pytestmark = pytest.mark.unit

FIRST = Gpu(index=0, uuid="GPU-1a2b", memory_mib=16384)
SECOND = Gpu(index=1, uuid="GPU-1a9f", memory_mib=16384)
BOTH = (FIRST, SECOND)


def test_each_line_of_nvidia_smi_is_a_gpu(nvidia_smi):
    environ = nvidia_smi("echo '0, GPU-1a2b, 16384'; echo '1, GPU-1a9f, 16384'")
    assert list_gpus(environ) == BOTH


def test_nvidia_smi_is_asked_for_what_is_read(nvidia_smi):
    environ = nvidia_smi(
        'test "$*" = "--query-gpu=index,uuid,memory.total --format=csv,noheader,nounits" && echo "0, GPU-1a2b, 16384"'
    )
    assert list_gpus(environ) == (FIRST,)


def test_gpu_that_shares_the_memory_of_the_machine_has_no_size(nvidia_smi):
    assert list_gpus(nvidia_smi("echo '0, GPU-1a2b, [N/A]'"))[0].memory_mib is None


def test_machine_without_nvidia_smi_has_no_gpu(tmp_path):
    assert list_gpus({"PATH": str(tmp_path)}) == ()


def test_machine_with_a_driver_and_without_devices_has_no_gpu(nvidia_smi):
    assert list_gpus(nvidia_smi("echo 'No devices were found'")) == ()


def test_failure_of_nvidia_smi_is_told_in_its_words(nvidia_smi):
    environ = nvidia_smi("echo 'Driver/library version mismatch'; exit 18")
    with pytest.raises(GpusUnknown, match=r"bin/nvidia-smi .*Driver/library version mismatch"):
        list_gpus(environ)


def test_line_that_is_not_understood_is_told(nvidia_smi):
    with pytest.raises(GpusUnknown, match="'hello'"):
        list_gpus(nvidia_smi("echo hello"))


@pytest.mark.parametrize(
    ("setting", "allowed"),
    [
        ("1", [1]),
        ("1,0", [1, 0]),
        (" 0 , 1 ", [0, 1]),
        ("0,0", [0]),
        ("GPU-1a9f", [1]),
        ("GPU-1a9", [1]),
        ("GPU-1a", []),  # may be either
        ("", []),
        ("-1", []),
        ("0,-1,1", [0]),
        ("7", []),
        ("MIG-1a2b", []),
    ],
)
def test_visible_devices_are_read_as_cuda_reads_them(setting, allowed):
    found = allowed_gpus(BOTH, {"CUDA_VISIBLE_DEVICES": setting})
    assert [gpu.index for gpu in found] == allowed


def test_all_gpus_are_allowed_if_nothing_restricts_them():
    assert allowed_gpus(BOTH, {}) == BOTH
