from __future__ import annotations

import os
import sys

import pytest

from hopyard.feed.shared_memory.buffer import BufferName
from hopyard.feed.shared_memory.pool import BufferPool
from hopyard.testing.watching import wait_until

pytestmark = [
    pytest.mark.unit,
    pytest.mark.skipif(sys.platform != "linux", reason="processes of other systems share no such memory"),
]
NODES = ("a", "b")


def used(buffers: BufferPool, readers: object = NODES, *, is_settled: bool = True) -> BufferName:
    """Returns the name of the buffer that a task got."""
    with buffers.lend(readers, is_near=True) as lent:
        assert lent.buffer is not None
        lent.is_settled = is_settled
        return lent.buffer.name


def is_open(name: BufferName) -> bool:
    try:
        return "hopyard-buffer" in os.readlink(f"/proc/self/fd/{name.descriptor}")
    except FileNotFoundError:
        return False


def test_the_next_task_gets_the_same_buffer() -> None:
    buffers = BufferPool()
    assert used(buffers) == used(buffers) == used(buffers)


def test_a_task_for_other_nodes_gets_another_one() -> None:
    buffers = BufferPool()
    first, second = used(buffers), used(buffers, readers=("c",))
    assert first.key != second.key
    assert is_open(second)


def test_a_buffer_on_which_something_may_stay_in_use_is_given_up() -> None:
    buffers = BufferPool()
    first = used(buffers, is_settled=False)
    assert not is_open(first)
    assert used(buffers).key != first.key


def test_a_task_that_fails_gives_its_buffer_up() -> None:
    names = []

    def fail(buffers: BufferPool) -> None:
        with buffers.lend(NODES, is_near=True) as lent:
            assert lent.buffer is not None
            names.append(lent.buffer.name)
            raise OSError("the disk is gone")

    with pytest.raises(OSError, match="disk"):
        fail(BufferPool())
    assert not is_open(names[0])


def test_two_tasks_at_once_have_two_of_which_one_is_kept() -> None:
    buffers = BufferPool()
    with buffers.lend(NODES, is_near=True) as lent:
        assert lent.buffer is not None
        inner = used(buffers)
        assert inner.key != lent.buffer.name.key
        outer = lent.buffer.name
        lent.is_settled = True
    assert not is_open(outer)
    assert used(buffers) == inner


def test_a_buffer_that_nobody_asks_for_is_given_up() -> None:
    name = used(BufferPool(kept_seconds=0.05))
    wait_until(lambda: not is_open(name), "the buffer is closed", 10)


def test_who_has_no_node_on_its_host_has_no_buffer() -> None:
    with BufferPool().lend(NODES, is_near=False) as lent:
        assert lent.buffer is None
