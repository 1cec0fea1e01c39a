from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from hopyard.errors import FeedJobFailed
from hopyard.feed.driver.end import EndOfFeed
from hopyard.protocol.node_status import Phase

from .scripted_run import ScriptedRun, Servers, fed, node, standing

pytestmark = pytest.mark.unit


@pytest.fixture
def servers() -> Iterator[Servers]:
    with ExitStack() as resources:
        yield Servers(resources)


def say(run: ScriptedRun, timeout: float | None = None) -> None:
    EndOfFeed(run, fed(run)).say(timeout)


def test_each_node_is_told_of_the_end_as_soon_as_it_listens(servers: Servers) -> None:
    (first, early), (second, late) = servers.start(), servers.start()
    run = ScriptedRun(standing(node(0, address=early), node(1, address="")), ends=False)
    say(run, timeout=0)
    assert (first.is_done, second.is_done) == (True, False)
    say(ScriptedRun(standing(node(0, address=early), node(1, address=late)), ends=False))
    assert second.is_done


def test_nodes_that_start_again_are_told_of_the_end_as_well(servers: Servers) -> None:
    first, old = servers.start()
    second, new = servers.start(attempt=1)
    run = ScriptedRun(
        standing(node(0, address=old), node(1, Phase.FAILED)),
        standing(node(0, address=new), node(1, Phase.FINISHED), attempt=1),
        ends=False,
    )
    say(run)
    assert (first.is_done, second.is_done) == (True, True)


def test_nodes_that_are_still_to_get_rows_are_not_told_of_the_end(servers: Servers) -> None:
    inbox, address = servers.start()
    run = ScriptedRun(standing(node(0, address=address), node(1, Phase.FINISHED)), ends=False)
    fed_attempts: set[int] = set()
    end = EndOfFeed(run, fed(run), has_fed=fed_attempts.__contains__)
    end.say(0.1)
    assert not inbox.is_done
    fed_attempts.add(0)
    end.say(None)
    assert inbox.is_done


def test_a_farewell_ends_with_the_run() -> None:
    say(ScriptedRun(standing(node(0, address=""), node(1, address=""))))


def test_a_node_that_cannot_be_told_of_the_end_is_named() -> None:
    run = ScriptedRun(standing(node(0, Phase.FINISHED), node(1)), ends=False)
    with pytest.raises(FeedJobFailed, match="node 1 on there could not be told of the end"):
        EndOfFeed(run, fed(run), tell_seconds=0.01).say(None)
