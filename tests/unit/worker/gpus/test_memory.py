"""A node with a share of a GPU keeps to its share of the memory, whatever framework it imports."""

from __future__ import annotations

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from hopyard.errors import GpusUnknown, InvalidDevices
from hopyard.frameworks.tensorflow import TensorFlow
from hopyard.worker.gpus.memory import gpu_share, memory_variables, prepare

pytestmark = pytest.mark.unit

# A package that stands in for TensorFlow on a machine with a GPU: it records how it is configured. It shows when
# the limit is set and to what, not that TensorFlow obeys it.
TENSORFLOW_WITH_A_GPU = """
class config:
    LogicalDeviceConfiguration = dict

    def list_physical_devices(kind):
        return [f"first {kind}"]

    def set_logical_device_configuration(device, logical):
        print("limit", device, logical)

print("loaded")
"""


def run(program: str, environ: dict[str, str], *path: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program],
        env=environ | {"PYTHONPATH": os.pathsep.join(path)},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_endless_fraction_is_written_short():
    assert memory_variables(1 / 3, {})["HOPYARD_GPU_FRACTION"] == "0.333333"


@pytest.mark.parametrize("text", ["", "half", "0", "2", "nan"])
def test_fraction_in_the_environment_that_cannot_be_is_told(text):
    with pytest.raises(InvalidDevices, match="HOPYARD_GPU_FRACTION="):
        prepare({"HOPYARD_GPU_FRACTION": text})


def test_nothing_is_prepared_for_a_node_without_a_share():
    before = list(sys.meta_path)
    prepare({})
    assert sys.meta_path == before


def test_preparing_imports_no_framework():
    program = (
        "import sys; from hopyard.worker.gpus.memory import prepare; prepare();"
        "print({'tensorflow', 'torch', 'jax'} & set(sys.modules))"
    )
    assert run(program, {"HOPYARD_GPU_FRACTION": "0.5"}).stdout == "set()\n"


def test_tensorflow_is_limited_as_soon_as_it_is_imported(machine, tmp_path):
    (tmp_path / "tensorflow.py").write_text(TENSORFLOW_WITH_A_GPU)
    program = (
        "from hopyard.worker.gpus.memory import prepare; prepare()\nimport tensorflow\nprint('imported')"
    )
    environ = machine(2) | {"HOPYARD_GPU_FRACTION": "0.25", "CUDA_VISIBLE_DEVICES": "1"}
    ended = run(program, environ, str(tmp_path))
    assert ended.stdout.splitlines() == ["loaded", "limit first GPU [{'memory_limit': 4096}]", "imported"]


def test_failure_to_limit_is_one_clear_sentence(tmp_path):
    (tmp_path / "tensorflow.py").write_text(TENSORFLOW_WITH_A_GPU)
    program = (
        "from hopyard.worker.gpus.memory import prepare; prepare()\nimport tensorflow\nprint('imported')"
    )
    ended = run(program, {"HOPYARD_GPU_FRACTION": "0.25", "PATH": ""}, str(tmp_path))
    assert ended.returncode == 1
    last = ended.stderr.splitlines()[-1]
    assert "GpuMemoryNotLimited: tensorflow cannot be limited to 0.25 of the GPU's memory" in last
    assert "nvidia-smi" in last


def test_gpu_whose_memory_nobody_knows_is_told(nvidia_smi):
    tensorflow = SimpleNamespace(config=SimpleNamespace(list_physical_devices=lambda kind: [kind]))
    tensorflow.config.LogicalDeviceConfiguration = dict
    with pytest.raises(GpusUnknown, match="does not tell the memory"):
        TensorFlow().limit_memory(tensorflow, gpu_share(0.5, nvidia_smi("echo '0, GPU-0, [N/A]'")))
