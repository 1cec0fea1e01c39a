"""A GPU has one holder at a time: among threads, processes, whole claims and shares."""

from __future__ import annotations

import fcntl
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import pytest

from hopyard.errors import NoFreeGpu
from hopyard.worker.gpus.inventory import Gpu
from hopyard.worker.gpus.lease import lease_gpus

pytestmark = pytest.mark.unit

GPUS = tuple(Gpu(index=index, uuid=f"GPU-{index}", memory_mib=16384) for index in range(4))

HOLDER = """
import sys
from pathlib import Path
from hopyard.worker.gpus.inventory import Gpu
from hopyard.worker.gpus.lease import lease_gpus
gpus = [Gpu(index=index, uuid=f"GPU-{index}", memory_mib=16384) for index in range(int(sys.argv[2]))]
with lease_gpus(gpus, 1, folder=Path(sys.argv[1]), wait_seconds=10) as leased:
    print(leased[0].uuid, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "leases"


@pytest.fixture
def lease(folder):
    """Leases in a folder of the test's own, without patience unless told."""

    def enter(gpus, count=1, *, fraction=1.0, wait_seconds=0.0):
        return lease_gpus(gpus, count, fraction=fraction, folder=folder, wait_seconds=wait_seconds)

    return enter


@contextmanager
def holder(folder, gpus=1):
    """A process that holds a GPU; gives the process and the GPU's UUID."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder), str(gpus)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield process, process.stdout.readline().strip()
        process.stdin.close()


def taken(lease):
    """Takes a lease and ends it; returns what it covered."""
    with lease as gpus:
        return gpus


def test_first_free_gpus_are_taken(lease):
    with lease(GPUS, 1) as first, lease(GPUS, 2) as more:
        assert [gpu.index for gpu in first + more] == [0, 1, 2]


def test_gpu_is_free_again_after_its_lease(lease):
    for _ in range(2):
        with lease(GPUS[:1]) as leased:
            assert leased == GPUS[:1]


def test_lease_ends_if_its_holder_fails(lease):
    with pytest.raises(KeyError), lease(GPUS[:1]):
        raise KeyError
    with lease(GPUS[:1]) as leased:
        assert leased == GPUS[:1]


def test_taken_gpu_is_told_with_numbers(lease):
    with lease(GPUS[:2], 2), pytest.raises(NoFreeGpu, match=r"needs 1 GPU, .* its 2 GPU\(s\) for 0\.2 s"):
        taken(lease(GPUS[:2], wait_seconds=0.2))


def test_claim_of_several_takes_none_if_too_few_are_free(lease):
    with lease(GPUS[1:2]):
        with pytest.raises(NoFreeGpu, match="needs 2 GPUs"):
            taken(lease(GPUS[:2], 2))
        with lease(GPUS[:2]) as leased:
            assert leased == GPUS[:1]


def test_waiting_claim_gets_the_gpu_when_it_is_free(lease):
    with ExitStack() as first, ThreadPoolExecutor() as pool:
        first.enter_context(lease(GPUS[:1]))
        waiting = pool.submit(taken, lease(GPUS[:1], wait_seconds=10))
        time.sleep(0.1)
        assert not waiting.done()
        first.close()
        assert waiting.result(10) == GPUS[:1]


def test_shares_fill_a_gpu_and_not_more(lease):
    with ExitStack() as thirds:
        for _ in range(3):
            assert thirds.enter_context(lease(GPUS[:1], fraction=1 / 3)) == GPUS[:1]
        with pytest.raises(NoFreeGpu, match=r"needs 0\.01 of a GPU"):
            taken(lease(GPUS[:1], fraction=0.01))


def test_shares_of_different_size_fill_what_is_left(lease):
    with lease(GPUS[:1], fraction=0.5), lease(GPUS[:1], fraction=0.3), lease(GPUS[:1], fraction=0.2) as last:
        assert last == GPUS[:1]


def test_share_of_an_ended_lease_is_given_out_again(lease):
    with ExitStack() as middle, lease(GPUS[:1], fraction=0.3):
        middle.enter_context(lease(GPUS[:1], fraction=0.3))
        with lease(GPUS[:1], fraction=0.3):
            middle.close()
            with lease(GPUS[:1], fraction=0.3) as again:
                assert again == GPUS[:1]


def test_shares_are_put_together_so_that_whole_gpus_stay_free(lease):
    with lease(GPUS[:2], fraction=0.5), lease(GPUS[:2], fraction=0.5), lease(GPUS[:2]) as whole:
        assert whole == GPUS[1:2]


def test_whole_gpu_and_share_exclude_each_other(lease):
    with lease(GPUS[:1], fraction=0.1), pytest.raises(NoFreeGpu):
        taken(lease(GPUS[:1]))
    with lease(GPUS[:1]), pytest.raises(NoFreeGpu):
        taken(lease(GPUS[:1], fraction=0.1))


def test_threads_of_one_process_never_share_a_gpu(lease):
    held: set[int] = set()
    guard = threading.Lock()

    def work(count: int) -> None:
        with lease(GPUS, count, wait_seconds=60) as leased:
            indexes = {gpu.index for gpu in leased}
            with guard:
                assert not held & indexes
                held.update(indexes)
            time.sleep(0.002)
            with guard:
                held.difference_update(indexes)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, [1, 2, 3, 4] * 10))


def test_processes_never_share_a_gpu(folder, lease):
    with holder(folder, 2) as (_, first), holder(folder, 2) as (_, second):
        assert {first, second} == {"GPU-0", "GPU-1"}
        with pytest.raises(NoFreeGpu):
            taken(lease(GPUS[:2]))


def test_killed_process_frees_its_gpu_and_leaves_nothing(folder, lease):
    with holder(folder) as (process, _):
        process.send_signal(signal.SIGKILL)
        process.wait(10)
        with lease(GPUS[:1]) as leased:
            assert leased == GPUS[:1]
    assert not folder.exists()


def test_lease_ends_although_a_process_forked_from_its_holder_lives_on(lease):
    read, write = os.pipe()
    with lease(GPUS[:1]):
        forked = os.fork()
        if forked == 0:
            os.close(write)
            os.read(read, 1)
            os._exit(0)
    try:
        with lease(GPUS[:1]) as again:
            assert again == GPUS[:1]
    finally:
        os.close(write)
        os.close(read)
        os.waitpid(forked, 0)


def test_last_lease_removes_files_and_folder(folder, lease):
    with lease(GPUS[:1], fraction=0.5):
        with lease(GPUS[:2], 1), lease(GPUS[:1], fraction=0.5):
            assert len(list(folder.iterdir())) == 2
        assert [file.name for file in folder.iterdir()] == ["GPU-0.lease"]
    assert not folder.exists()


def test_vain_claim_leaves_nothing(folder, lease):
    with pytest.raises(NoFreeGpu):
        taken(lease(GPUS[:1], 2))
    assert not folder.exists()


def test_files_of_others_in_the_folder_stay(folder, lease):
    folder.mkdir()
    (folder / "notes.txt").touch()
    with lease(GPUS[:1]):
        pass
    assert [file.name for file in folder.iterdir()] == ["notes.txt"]


def test_every_user_may_lock_what_one_has_made(folder, lease):
    before = os.umask(0o077)
    try:
        with lease(GPUS[:1]):
            assert stat.S_IMODE(folder.stat().st_mode) == 0o1777
            assert stat.S_IMODE((folder / "GPU-0.lease").stat().st_mode) == 0o666
    finally:
        os.umask(before)


def test_cleaners_of_temporary_folders_see_that_a_lease_is_in_use(folder, lease):
    with lease(GPUS[:1]), (folder / "GPU-0.lease").open() as file, pytest.raises(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
