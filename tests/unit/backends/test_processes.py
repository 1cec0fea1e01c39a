from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from hopyard.backends.base import Crew
from hopyard.backends.processes import ProcessesBackend, ThreadWorkers
from hopyard.control.service import PoolService
from hopyard.errors import BackendFailed, NotEnoughSlots
from hopyard.protocol.messages import Answer, Left, Message, Noted
from hopyard.worker.driver_link import Driver
from hopyard.worker.gpus.request import DeviceRequest
from hopyard.worker.work import Host, Member

pytestmark = pytest.mark.unit


class Pool(PoolService):
    """A service that keeps what it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[Message[Any]] = []
        self.given_up: list[Exception] = []

    def answer(self, message: Message[Any]) -> Answer:
        self.messages.append(message)
        return Noted()

    is_ending = False
    awaits_workers = True
    progress = 0

    def suspect(self) -> None:
        raise AssertionError("threads do not get lost")

    def give_up(self, error: Exception) -> None:
        self.given_up.append(error)


@dataclass
class Job:
    """Does for each worker what a test says, and keeps where it was done."""

    task: Callable[[Member], None] = lambda _: None
    hosts: dict[int, Host] = field(default_factory=dict)

    def run(self, member: Member, driver: Driver, host: Host) -> None:
        assert not driver.is_remote
        self.hosts[member.number] = host
        self.task(member)
        with driver.open(call_seconds=5.0, patience=5.0) as link:
            link.ask(Left(number=member.number, incarnation="a"))

    def describe(self, numbers: Sequence[int]) -> str:
        raise AssertionError("only Spark shows it")


def members(count: int) -> tuple[Member, ...]:
    return tuple(Member(number=number) for number in range(count))


def test_all_workers_run_at_once_and_call_the_service_itself() -> None:
    pool, together = Pool(), threading.Barrier(3)

    def meet(_: Member) -> None:
        together.wait(30)

    job = Job(meet)
    workers = ProcessesBackend().start(Crew(work=job, members=members(3)), pool)
    workers.close(0.0)
    workers.watch()
    assert sorted(message.number for message in pool.messages) == [0, 1, 2]
    assert job.hosts == dict.fromkeys(range(3), Host())
    assert pool.given_up == []


def test_workers_of_threads_never_leave_and_are_never_refused() -> None:
    workers = ThreadWorkers(Job(), members(1), Pool())
    assert (workers.have_left, workers.refusal) == (False, None)
    workers.close(0.0)


def test_workers_beside_the_driver_of_others_are_told_where_those_reach_them() -> None:
    job = Job()
    ThreadWorkers(job, members(1), Pool(), address="10.0.0.1").close(0.0)
    assert job.hosts == {0: Host(address="10.0.0.1")}


def test_a_worker_that_breaks_down_is_told_to_the_service_with_its_error() -> None:
    pool, error = Pool(), ZeroDivisionError("division by zero")
    workers = ThreadWorkers(Job(fail_with(error, of=1)), members(2), pool, backend="elsewhere")
    assert pool.news.wait(30)
    workers.close(0.0)
    assert pool.given_up == []  # whoever drives the pool hears of it in its own thread
    workers.watch()
    (told,) = pool.given_up
    assert isinstance(told, BackendFailed)
    assert "elsewhere" in str(told)
    assert "a worker could not go on (ZeroDivisionError: division by zero)" in str(told)
    assert told.__cause__ is error
    assert [message.number for message in pool.messages] == [0]


def test_an_error_of_ours_is_told_as_it_is() -> None:
    pool, refusal = Pool(), NotEnoughSlots(9, "slots", 2, "2 executors x 1 core", "ask for more")
    workers = ThreadWorkers(Job(fail_with(refusal, of=0)), members(1), pool)
    assert pool.news.wait(30)
    workers.watch()
    assert pool.given_up == [refusal]
    workers.close(0.0)


def test_a_close_waits_for_those_who_are_still_at_work() -> None:
    pool, at_work, may_end = Pool(), threading.Event(), threading.Event()

    def work(_: Member) -> None:
        at_work.set()
        assert may_end.wait(30)

    workers = ThreadWorkers(Job(work), members(1), pool)
    closing = threading.Thread(target=workers.close, args=(0.0,))
    assert at_work.wait(30)
    closing.start()
    closing.join(0.1)
    assert closing.is_alive()
    assert pool.messages == []
    may_end.set()
    closing.join(30)
    assert not closing.is_alive()
    assert [type(message) for message in pool.messages] == [Left]


def test_there_is_room_for_a_worker_on_each_processor() -> None:
    assert ProcessesBackend().room(DeviceRequest()) >= 1


def fail_with(error: Exception, *, of: int) -> Callable[[Member], None]:
    """Returns what raises an error in one of the workers."""

    def fail(member: Member) -> None:
        if member.number == of:
            raise error

    return fail
