from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from hopyard.errors import NotEnoughGpus
from hopyard.spark.session.gpus import gpu_conf

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.unit


@pytest.fixture
def four_gpus(tmp_path: Path) -> Path:
    script = tmp_path / "discover"
    script.write_text("""#!/bin/sh\necho '{"name": "gpu", "addresses": ["0", "1", "2", "3"]}'\n""")
    script.chmod(0o755)
    return script


def ask(script: str) -> list[str]:
    said = subprocess.run([script], capture_output=True, check=True).stdout
    return list(json.loads(said)["addresses"])


def test_each_worker_that_asks_gets_other_gpus(tmp_path: Path, four_gpus: Path) -> None:
    conf = gpu_conf(workers=2, gpus=2, cores=1, script=four_gpus, folder=tmp_path)
    script = conf["spark.worker.resource.gpu.discoveryScript"]
    assert [ask(script), ask(script)] == [["0", "1"], ["2", "3"]]


def test_a_worker_too_many_gets_none(tmp_path: Path, four_gpus: Path) -> None:
    conf = gpu_conf(workers=1, gpus=4, cores=1, script=four_gpus, folder=tmp_path)
    script = conf["spark.worker.resource.gpu.discoveryScript"]
    ask(script)
    assert subprocess.run([script], capture_output=True, check=False).returncode == 1


def test_a_folder_with_blanks_and_quotes_in_its_name_is_fine(tmp_path: Path, four_gpus: Path) -> None:
    folder = tmp_path / "it's here"
    folder.mkdir()
    conf = gpu_conf(workers=1, gpus=1, cores=1, script=four_gpus, folder=folder)
    assert ask(conf["spark.worker.resource.gpu.discoveryScript"]) == ["0"]


@pytest.mark.parametrize(("gpus", "cores", "per_task"), [(1, 1, "1"), (2, 1, "2"), (4, 2, "2"), (1, 4, "1")])
def test_tasks_share_the_gpus_of_their_executor_evenly(
    tmp_path: Path, four_gpus: Path, gpus: int, cores: int, per_task: str
) -> None:
    conf = gpu_conf(workers=1, gpus=gpus, cores=cores, script=four_gpus, folder=tmp_path)
    assert conf["spark.executor.resource.gpu.amount"] == str(gpus)
    assert conf["spark.task.resource.gpu.amount"] == per_task


def test_too_few_gpus_are_told_with_numbers(tmp_path: Path, four_gpus: Path) -> None:
    with pytest.raises(NotEnoughGpus, match="need 6 GPUs in all, but this machine has 4"):
        gpu_conf(workers=3, gpus=2, cores=1, script=four_gpus, folder=tmp_path)


def test_a_script_that_fails_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotEnoughGpus, match="no-such-script"):
        gpu_conf(workers=1, gpus=1, cores=1, script=tmp_path / "no-such-script", folder=tmp_path)
