from __future__ import annotations

import errno
import resource
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from hopyard.errors import RunEnded
from hopyard.tracking import RunReader, RunState, list_runs

pytestmark = pytest.mark.unit


def test_a_begun_run_is_running_in_the_project(project, begin):
    run = begin(
        name="digits", nodes=3, backend="spark", user="ada", description="first try", details={"lr": 0.1}
    )
    record = RunReader(project, run.id).record()
    assert record == run.record
    assert (record.state, record.nodes, record.user, record.started, record.updated) == (
        RunState.RUNNING, 3, "ada", 1000.0, 1000.0,
    )  # fmt: skip
    assert record.details == {"lr": 0.1}


def test_a_run_is_stored_where_the_old_library_had_it(project, begin):
    begin(app_id="application_1_0002", kind="grid_search")
    assert project.exists("Logs/TensorFlow/application_1_0002/grid_search/run.1/run.json")


def test_numbers_count_up_within_a_kind_of_an_application(begin):
    begun = [begin(), begin(), begin(kind="grid_search"), begin(app_id="app-2"), begin()]
    assert [run.id.number for run in begun] == [1, 2, 1, 1, 3]


def test_a_folder_without_a_record_keeps_its_number(project, begin):
    project.put("Logs/TensorFlow/app-1/launcher/run.7/logfile", b"an older program wrote this\n")
    assert begin().id.number == 8


def test_drivers_that_begin_at_once_get_different_numbers(project, begin):
    ready = threading.Barrier(8)

    def drive(_: int) -> list[int]:
        ready.wait()
        return [begin().id.number for _ in range(5)]

    with ThreadPoolExecutor(8) as pool:
        numbers = sorted(number for taken in pool.map(drive, range(8)) for number in taken)
    assert numbers == list(range(1, 41))
    assert len(list_runs(project).runs) == 40


def test_a_heartbeat_moves_the_time_of_the_last_sign(project, begin, clock):
    run = begin()
    clock.now = 1007.0
    run.heartbeat()
    assert RunReader(project, run.id).record().updated == 1007.0


def test_polling_sends_a_heartbeat_when_one_is_due_and_not_before(project, begin, clock):
    run = begin(heartbeat_seconds=10.0)
    clock.now = 1009.9
    run.poll()
    assert RunReader(project, run.id).record().updated == 1000.0
    clock.now = 1010.0
    run.poll()
    assert RunReader(project, run.id).record().updated == 1010.0


def test_a_finished_run_has_an_end_and_a_value(project, begin, clock):
    run = begin()
    clock.now = 1060.0
    run.finish(RunState.FINISHED, value="0.97")
    record = RunReader(project, run.id).record()
    assert (record.state, record.ended, record.updated, record.value) == (
        RunState.FINISHED,
        1060.0,
        1060.0,
        "0.97",
    )


def test_the_roles_of_the_nodes_are_kept(project, begin):
    run = begin(nodes=3, roles=["chief", "worker", "ps"])
    assert RunReader(project, run.id).record().roles == ("chief", "worker", "ps")


def test_roles_that_are_not_one_for_each_node_are_refused(project, begin):
    with pytest.raises(ValueError, match="3 nodes"):
        begin(nodes=3, roles=["chief", "worker"])
    assert list_runs(project).runs == ()


def test_a_run_has_one_attempt_until_its_nodes_are_started_again(project, begin, clock):
    run = begin()
    assert RunReader(project, run.id).record().attempts == 1
    clock.now = 1007.0
    run.restarted(1, "node 2 failed")
    run.restarted(2, "node 0 was lost")
    run.finish(RunState.FINISHED)
    record = RunReader(project, run.id).record()
    assert (record.attempts, record.restarts) == (3, ("node 2 failed", "node 0 was lost"))
    assert (record.state, record.error, record.updated) == (RunState.FINISHED, None, 1007.0)


@pytest.mark.parametrize("attempt", [0, 2])
def test_attempts_come_one_by_one(project, begin, attempt):
    run = begin()
    with pytest.raises(ValueError, match=f"attempt {attempt} cannot follow attempt 0"):
        run.restarted(attempt, "why")
    assert RunReader(project, run.id).record().attempts == 1


def test_a_run_that_has_ended_is_not_started_again(begin):
    run = begin()
    run.finish(RunState.FAILED)
    with pytest.raises(RunEnded):
        run.restarted(1, "why")


def test_a_late_heartbeat_does_not_revive_a_run(project, begin):
    run = begin()
    run.finish(RunState.FAILED, error="boom")
    run.heartbeat()
    assert RunReader(project, run.id).record().state is RunState.FAILED


def test_heartbeats_of_another_thread_never_undo_the_end(project, begin):
    for _ in range(20):
        run = begin()
        beating = threading.Thread(target=lambda run=run: [run.heartbeat() for _ in range(10)])
        beating.start()
        run.finish(RunState.FINISHED)
        beating.join()
        assert RunReader(project, run.id).record().state is RunState.FINISHED


def test_a_run_ends_once(begin):
    run = begin()
    run.finish(RunState.FINISHED)
    with pytest.raises(RunEnded, match="FINISHED"):
        run.finish(RunState.FAILED)


@pytest.mark.parametrize("state", [RunState.RUNNING, RunState.LOST])
def test_a_run_does_not_end_in_a_state_that_is_no_end(begin, state):
    with pytest.raises(ValueError, match=state.value):
        begin().finish(state)


def test_leaving_the_context_finishes_the_run(project, begin):
    with begin() as run:
        pass
    assert RunReader(project, run.id).record().state is RunState.FINISHED


def test_an_exception_fails_the_run_and_goes_on(project, begin):
    run = begin()
    with pytest.raises(ZeroDivisionError), run:
        _ = 1 / 0
    record = RunReader(project, run.id).record()
    assert (record.state, record.error) == (RunState.FAILED, "ZeroDivisionError: division by zero")


def test_an_interrupt_kills_the_run(project, begin):
    run = begin()
    with pytest.raises(KeyboardInterrupt), run:
        raise KeyboardInterrupt
    record = RunReader(project, run.id).record()
    assert (record.state, record.error) == (RunState.KILLED, "KeyboardInterrupt")


def test_an_end_inside_the_context_stands(project, begin):
    with begin() as run:
        run.finish(RunState.KILLED, error="stopped by the user")
    assert RunReader(project, run.id).record().error == "stopped by the user"


@contextmanager
def no_descriptors():
    """Lets this process open no file; gives what lets it open some again."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, limits[1]))
    try:
        yield lambda: resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_the_end_is_on_record_though_descriptors_ran_out_for_a_while(project, begin):
    run = begin()
    ending = threading.Thread(target=run.finish, args=(RunState.FINISHED,))
    with no_descriptors() as give_back:
        ending.start()
        ending.join(0.3)
        is_waiting = ending.is_alive()
        give_back()
        ending.join(10)
    assert is_waiting
    assert RunReader(project, run.id).record().state is RunState.FINISHED


def test_it_is_told_if_descriptors_do_not_come_back(project, begin):
    run = begin(patience=0.2)
    with no_descriptors(), pytest.raises(OSError) as caught:  # noqa: PT011  its number tells
        run.finish(RunState.FINISHED)
    assert caught.value.errno == errno.EMFILE
