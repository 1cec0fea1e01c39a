from __future__ import annotations

from pathlib import Path

import pytest

from hopyard.errors import BadArguments, TooFewGpus
from tensorflowonspark import gpu_info

pytestmark = pytest.mark.unit

# Lists the GPUs in the file "gpus" of its folder, and those in "busy" as computed on.
NVIDIA_SMI = """#!/bin/sh
cd "$(dirname "$0")"
case "$*" in
  *--query-gpu=*) while read -r index; do echo "$index, GPU-$index, 16384"; done < gpus ;;
  *gpu_uuid,pid*) while read -r index; do echo "GPU-$index, 4711, train.py, 900 MiB"; done < busy ;;
  *--query-compute-apps=*) while read -r index; do echo "GPU-$index"; done < busy ;;
esac
echo "$*" >> asked
if [ -f freed ] && grep -q compute-apps asked; then cat freed > busy; fi
"""


class Machine:
    """A machine with an nvidia-smi that tells what the test says."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        program = folder / "nvidia-smi"
        program.write_text(NVIDIA_SMI)
        program.chmod(0o755)

    def has(self, *gpus: int, busy: tuple[int, ...] = ()) -> None:
        self.write("gpus", gpus)
        self.write("busy", busy)

    def after_a_look_has(self, *, busy: tuple[int, ...]) -> None:
        self.write("freed", busy)

    def write(self, name: str, gpus: tuple[int, ...]) -> None:
        (self.folder / name).write_text("".join(f"{gpu}\n" for gpu in gpus))


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    return Machine(tmp_path)


def test_a_machine_without_nvidia_smi_has_no_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not gpu_info.is_gpu_available()
    with pytest.raises(TooFewGpus, match="on this machine") as error:
        gpu_info.get_gpus()
    assert (error.value.wanted, error.value.found) == (1, 0)


def test_a_gpu_that_nvidia_smi_lists_is_available(machine: Machine) -> None:
    machine.has(0)
    assert gpu_info.is_gpu_available()


def test_an_nvidia_smi_that_fails_means_no_gpu_and_is_told(
    machine: Machine, caplog: pytest.LogCaptureFixture
) -> None:
    (machine.folder / "nvidia-smi").write_text("#!/bin/sh\necho 'driver not loaded'; exit 9\n")
    assert not gpu_info.is_gpu_available()
    assert "driver not loaded" in caplog.text


def test_gpus_that_are_computed_on_are_left_out(machine: Machine) -> None:
    machine.has(0, 1, 2, busy=(1,))
    assert gpu_info.get_gpus(2, worker_index=0) == "0,2"


def test_gpus_come_as_a_list_if_asked_for(machine: Machine) -> None:
    machine.has(0, 1)
    assert gpu_info.get_gpus(2, 0, gpu_info.AS_LIST) == ["0", "1"]


def test_a_format_that_nobody_knows_is_refused() -> None:
    with pytest.raises(BadArguments, match="'tuple'"):
        gpu_info.get_gpus(format="tuple")


@pytest.mark.parametrize(
    ("num_gpu", "worker_index", "chosen"),
    [(1, 1, "1"), (1, 5, "1"), (2, 1, "2,3"), (2, 2, "0,1"), (2, 3, "2,3"), (3, 1, "3,0,1")],
)
def test_workers_take_turns_with_the_free_gpus(
    machine: Machine, num_gpu: int, worker_index: int, chosen: str
) -> None:
    machine.has(0, 1, 2, 3)
    assert gpu_info.get_gpus(num_gpu, worker_index) == chosen


def test_without_an_index_different_gpus_are_picked_at_random(machine: Machine) -> None:
    machine.has(0, 1, 2, 3, busy=(2,))
    picked = gpu_info.get_gpus(2, format=gpu_info.AS_LIST)
    assert len(set(picked)) == 2
    assert set(picked) <= {"0", "1", "3"}


def test_more_gpus_than_the_machine_has_are_refused_at_once(machine: Machine) -> None:
    machine.has(0)
    with pytest.raises(TooFewGpus, match="on this machine") as error:
        gpu_info.get_gpus(2)
    assert (error.value.wanted, error.value.found) == (2, 1)


def test_gpus_that_become_free_are_waited_for(machine: Machine) -> None:
    machine.has(0, busy=(0,))
    machine.after_a_look_has(busy=())
    assert gpu_info.get_gpus() == "0"


def test_gpus_that_stay_in_use_are_told_with_their_users(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu_info, "MAX_RETRIES", 0)
    machine.has(0, 1, busy=(1,))
    with pytest.raises(TooFewGpus, match=r"MAX_RETRIES.*GPU-1, 4711, train\.py") as error:
        gpu_info.get_gpus(2)
    assert (error.value.wanted, error.value.found) == (2, 1)
