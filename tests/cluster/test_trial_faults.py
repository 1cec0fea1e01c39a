"""What a study records of a trial that misbehaves, and that the next trial is none the worse for it."""

from __future__ import annotations

import ctypes
import math
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

import hopyard
from hopyard import NodeContext, Project
from hopyard.codec.records import decode
from hopyard.errors import StudyFailed, TrialStopped
from hopyard.search.samplers.fixed_rows import RowsSampler
from hopyard.search.study.study import Study
from hopyard.tracking import TrialRecord, TrialState

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.cluster

PATIENCE_SECONDS = 4.0
LOUD_BYTES = 200_000_000
LOG_BYTES = 70 << 20  # a little more than is kept
WELL, PRUNED, FAILED = TrialState.FINISHED, TrialState.PRUNED, TrialState.FAILED


def crash() -> None:
    ctypes.string_at(0)


def leave_at_once() -> None:
    os._exit(0)


def leave() -> None:
    sys.exit(3)


def be_killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def hang() -> None:
    threading.Event().wait()


def hang_and_be_deaf() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    threading.Event().wait()


def shout() -> float:
    line = "x" * 999
    for _ in range(LOUD_BYTES // 1000):
        print(line)
    return 1.0


def return_a_lock() -> object:
    return threading.Lock()


def return_a_lock_beside() -> object:
    return {"metric": 1.0, "lock": threading.Lock()}


def go_elsewhere() -> float:
    os.chdir("/")
    return 1.0


def remove_the_working_folder() -> float:
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    os.rmdir(folder)
    return 1.0


def remove_the_log_folder() -> float:
    shutil.rmtree(Path(NodeContext.current().logdir).parent)
    return 1.0


def forget_all_variables() -> float:
    os.environ.clear()
    os.environ["PATH"] = "nowhere"
    return 1.0


def close_output() -> float:
    sys.stdout.close()
    return 1.0


def close_all_files() -> float:
    os.closerange(0, 100)
    return 1.0


def set_an_alarm() -> float:
    signal.alarm(1)
    return 1.0


def leave_a_thread() -> float:
    threading.Thread(target=threading.Event().wait, name="idler").start()
    return 1.0


def leave_a_process() -> float:
    print("left", subprocess.Popen(["sleep", "1000"]).pid)
    return 1.0


def leave_an_orphan() -> float:
    subprocess.run("setsid sleep 1000 & echo left $!", shell=True, check=True)
    return 1.0


def return_twice() -> float:
    return 1.0 if os.fork() else 2.0


def interrupt() -> None:
    raise KeyboardInterrupt


def be_stopped() -> None:
    raise TrialStopped(3)


def recurse() -> Any:
    return recurse()


def take_all_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, resource.RLIM_INFINITY))
    bytearray(4 << 30)


@dataclass(frozen=True)
class Fault:
    """What a trial does, and what is to be found of it: the record, and words in traceback and log."""

    act: Callable[[], object]
    state: TrialState = WELL
    error_type: str | None = None
    error: str = ""
    traceback: str = ""
    log: str = ""


FAULTS = {
    "crash": Fault(
        crash, FAILED, "ProcessDied", "its process was killed by signal 11 (SIGSEGV)", log="Segmentation"
    ),
    "os._exit": Fault(leave_at_once, FAILED, "ProcessDied", "exit code 0 before the function returned"),
    "sys.exit": Fault(leave, FAILED, "SystemExit", "it called sys.exit(3)", "in leave", "in leave"),
    "kill": Fault(be_killed, FAILED, "ProcessDied", "killed by signal 9"),
    "hang": Fault(hang, FAILED, "TrialTimeout", f"the trial took longer than {PATIENCE_SECONDS:g} s"),
    "deaf": Fault(
        hang_and_be_deaf, FAILED, "TrialTimeout", f"the trial took longer than {PATIENCE_SECONDS:g} s"
    ),
    "shout": Fault(shout, log="bytes of output are left out here"),
    "nan": Fault(lambda: math.nan, FAILED, "BadResult", "the function returned nan"),
    "text": Fault(lambda: "0.9", FAILED, "BadResult", "the function returned '0.9' (type str)"),
    "nothing": Fault(lambda: None, FAILED, "BadResult", "the function returned None"),
    "another metric": Fault(
        lambda: {"loss": 1.0, "accuracy": 0.5}, FAILED, "BadResult", "can be one of 'loss', 'accuracy'"
    ),
    "lock": Fault(return_a_lock, FAILED, "BadResult", "the function returned <unlocked _thread.lock"),
    "lock beside": Fault(return_a_lock_beside),
    "chdir": Fault(go_elsewhere),
    "rmdir": Fault(remove_the_working_folder),
    "rmtree": Fault(remove_the_log_folder),
    "environment": Fault(forget_all_variables),
    "closed output": Fault(close_output, log="the trial left its output closed"),
    "closed files": Fault(close_all_files),
    "alarm": Fault(set_an_alarm),
    "thread": Fault(leave_a_thread, log="the trial left threads running (idler)"),
    "process": Fault(leave_a_process, log="the trial left processes running"),
    "orphan": Fault(leave_an_orphan, log="the trial left processes running"),
    "fork": Fault(return_twice),
    "interrupt": Fault(interrupt, FAILED, "KeyboardInterrupt", "KeyboardInterrupt", "in interrupt"),
    "stopped": Fault(be_stopped, PRUNED),
    "recursion": Fault(recurse, FAILED, "RecursionError", "maximum recursion depth", "in recurse"),
    "memory": Fault(take_all_memory, FAILED, "MemoryError", "MemoryError", "in take_all_memory"),
}
HANGING = ("hang", "deaf")


def misbehave(number: int, fault: str) -> object:
    """Does something wrong, or tells what it finds in its process."""
    print(f"trial {number} begins", flush=True)
    return FAULTS[fault].act() if number % 2 else found()


def found() -> dict[str, object]:
    variables = {name: value for name, value in os.environ.items() if not name.startswith("HOPYARD")}
    return {
        "metric": 0.5,
        "folder": os.getcwd(),
        "variables": zlib.crc32(repr(sorted(variables.items())).encode()),
        "threads": threading.active_count(),
        "memory": resource.getrlimit(resource.RLIMIT_AS)[0],
        "alarm": signal.getitimer(signal.ITIMER_REAL)[0],
    }


def study_of(faults: Sequence[str], **options: Any) -> Study:
    """Returns a study in which a good trial goes before and after each bad one."""
    rows = [{"number": number, "fault": fault} for fault, number in numbered(faults)]
    space = {"number": hopyard.Range(0, 2 * len(FAULTS)), "fault": hopyard.Choice([*FAULTS])}
    return hopyard.search(misbehave, space, sampler=RowsSampler(rows), progress=False, **options)


def numbered(faults: Sequence[str]) -> list[tuple[str, int]]:
    whole = [faults[0], *(fault for fault in faults for _ in range(2))]
    return [(fault, number) for number, fault in enumerate(whole)]


def stored(study: Study, trial: TrialRecord) -> tuple[TrialRecord, bytes]:
    """Returns the record and the log in a trial's folder."""
    project = Project.open()
    folder = project.relative(study.trial_logdir(trial))
    path = f"{folder}/trial.json"
    return decode(TrialRecord, project.read(path), path), project.read(f"{folder}/logfile")


def check_record(study: Study, trial: TrialRecord, fault: Fault) -> None:
    record, log = stored(study, trial)
    assert (record.state, record.error_type, record.error) == (trial.state, trial.error_type, trial.error)
    assert (trial.state, trial.error_type) == (fault.state, fault.error_type)
    assert fault.error in (trial.error or "")
    assert fault.traceback in (record.traceback or "")
    assert log.startswith(f"trial {trial.number} begins\n".encode())
    assert fault.log.encode() in log
    assert len(log) < LOG_BYTES
    assert trial.values == ((1.0,) if fault.state is WELL else ())
    left = [int(line.split()[1]) for line in log.splitlines() if line.startswith(b"left ")]
    assert not any(psutil.pid_exists(pid) for pid in left)


@pytest.mark.parametrize("name", FAULTS)
def test_a_trial_that_misbehaves_is_on_record_and_harms_no_other(name: str) -> None:
    timeouts = PATIENCE_SECONDS if name in HANGING else None
    study = study_of([name], backend="processes", parallel=1, trial_timeout=timeouts)
    before, bad, after = study.trials
    check_record(study, bad, FAULTS[name])
    assert before.state is after.state is WELL
    assert after.result == before.result
    assert stored(study, after)[1] == b"trial 2 begins\n"


@pytest.mark.spark
def test_trials_that_misbehave_on_executors_harm_no_other(spark: SparkSession) -> None:
    faults = [name for name in FAULTS if name not in HANGING]
    study = study_of(faults, parallel=2, spark=spark)
    assert len(study.trials) == 2 * len(faults) + 1
    for name, trial in zip(faults, study.trials[1::2], strict=True):
        check_record(study, trial, FAULTS[name])
    good = study.trials[::2]
    assert {trial.state for trial in good} == {WELL}
    per_executor = {trial.result["folder"]: trial.result for trial in good}
    assert all(trial.result == per_executor[trial.result["folder"]] for trial in good)


@pytest.mark.spark
def test_a_trial_that_hangs_on_an_executor_is_ended(spark: SparkSession) -> None:
    study = study_of(HANGING, parallel=1, spark=spark, trial_timeout=PATIENCE_SECONDS)
    for name, trial in zip(HANGING, study.trials[1::2], strict=True):
        check_record(study, trial, FAULTS[name])
    assert {trial.state for trial in study.trials[::2]} == {WELL}


def fail_each_time(number: int) -> float:
    raise ArithmeticError(f"layer {number} has no weights")


@pytest.mark.parametrize("backend", ["processes", pytest.param("spark", marks=pytest.mark.spark)])
def test_a_study_whose_first_trials_fail_in_the_same_way_is_given_up(
    backend: str, request: pytest.FixtureRequest
) -> None:
    if backend == "spark":
        request.getfixturevalue("spark")
    with pytest.raises(StudyFailed, match="its first 3 trials all failed with the same error") as caught:
        hopyard.grid_search(
            fail_each_time, {"number": list(range(20))}, parallel=1, backend=backend, progress=False
        )
    assert "ArithmeticError: layer 2 has no weights" in caught.value.trace
    assert "in fail_each_time" in caught.value.trace
    study = Study.load()
    assert [trial.state for trial in study.trials] == [FAILED] * 3
