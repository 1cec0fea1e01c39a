from __future__ import annotations

import ipaddress
import os
from pathlib import Path

import pytest

from hopyard.errors import NoExecutorId
from hopyard.protocol import node_info
from tensorflowonspark import util

pytestmark = pytest.mark.unit

FOUR_GPUS = """#!/bin/sh
case "$*" in *--query-gpu=*) for i in 0 1 2 3; do echo "$i, GPU-$i, 16384"; done ;; esac
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("CUDA_VISIBLE_DEVICES", "CLASSPATH", "TFOS_CLASSPATH_UPDATED"):
        monkeypatch.setenv(name, "")  # known to monkeypatch, so that it is as before after the test
        monkeypatch.delenv(name)
    monkeypatch.delenv("HADOOP_PREFIX", raising=False)
    return tmp_path


def program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def test_the_address_is_one() -> None:
    ipaddress.ip_address(util.get_ip_address())


def test_the_first_file_of_a_name_on_a_path_is_found(folder: Path) -> None:
    (folder / "a/tool").mkdir(parents=True)  # a folder is no file
    (folder / "b").mkdir()
    (folder / "b/tool").touch()
    path = os.pathsep.join([str(folder / "a"), str(folder / "b")])
    assert util.find_in_path(path, "tool") == str(folder / "b/tool")


def test_a_file_that_is_nowhere_on_a_path_is_false(folder: Path) -> None:
    assert util.find_in_path(str(folder), "tool") is False


def test_an_executor_reads_the_number_that_it_wrote() -> None:
    util.write_executor_id(17)
    assert util.read_executor_id() == 17


def test_a_folder_without_a_number_is_told(folder: Path) -> None:
    with pytest.raises(NoExecutorId, match=folder.name):
        util.read_executor_id()


def test_a_machine_without_gpus_lets_tensorflow_see_none(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(folder))
    util.single_node_env()
    assert os.environ["CUDA_VISIBLE_DEVICES"] == ""


def test_processes_on_one_host_share_its_gpus(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(folder / "nvidia-smi", FOUR_GPUS)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    nodes = ["10.0.0.1:1", "10.0.0.10:1", "10.0.0.1:2"]
    util.single_node_env(num_gpus=2, worker_index=2, nodes=nodes)
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "2,3"


def test_no_gpus_are_taken_if_none_are_asked_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(folder / "nvidia-smi", FOUR_GPUS)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    util.single_node_env(num_gpus=0)
    assert os.environ["CUDA_VISIBLE_DEVICES"] == ""


def test_a_node_keeps_to_the_gpus_that_it_was_given(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(folder / "nvidia-smi", FOUR_GPUS)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    monkeypatch.setenv(node_info.VARIABLE, "{}")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-2,GPU-3")
    util.single_node_env(num_gpus=1, worker_index=0)
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "GPU-2"


def test_hadoops_classes_are_added_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(folder / "bin/hadoop", '#!/bin/sh\n[ "$*" = "classpath --glob" ] && echo /a.jar:/b.jar\n')
    monkeypatch.setenv("HADOOP_PREFIX", str(folder))
    monkeypatch.setenv("CLASSPATH", "/mine.jar")
    util.single_node_env(num_gpus=0)
    util.single_node_env(num_gpus=0)
    assert os.environ["CLASSPATH"] == "/mine.jar:/a.jar:/b.jar"
