from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import pytest

from hopyard.errors import InvalidMessage, NothingToRepeat, NotInStep, NoWholeBatch
from hopyard.feed.lockstep.hub import Answer, Ask, LockstepCount, LockstepHub, Uneven, Verdict

pytestmark = pytest.mark.unit


def count(policy: Uneven, **nodes: tuple[int, bool]) -> LockstepCount:
    """A count in which node ``n0``, ``n1``... has reported how many batches it has, and whether that is final."""
    made = LockstepCount(range(len(nodes)), policy)
    for rank, (have, final) in enumerate(nodes.values()):
        made.report(rank, have=have, final=final)
    return made


MORE, LAST = False, True
WHOLE_ONLY = pytest.mark.parametrize("policy", [Uneven.DROP, Uneven.STOP])
ALL = pytest.mark.parametrize("policy", list(Uneven))


# --- whole batches only ----------------------------------------------------------------------------


@ALL
def test_all_go_up_to_the_batch_that_everybody_has(policy: Uneven) -> None:
    counts = count(policy, n0=(5, MORE), n1=(3, MORE), n2=(9, MORE))
    assert [counts.verdict(wanted).answer for wanted in (1, 3, 4)] == [Answer.GO, Answer.GO, Answer.WAIT]
    assert counts.verdict(1).known == 3


@ALL
def test_a_node_that_has_not_reported_is_waited_for(policy: Uneven) -> None:
    counts = LockstepCount([4, 7], policy)
    counts.report(4, have=2, final=False)
    assert counts.verdict(1).answer is Answer.WAIT


@WHOLE_ONLY
def test_all_end_after_the_fewest_batches(policy: Uneven) -> None:
    counts = count(policy, n0=(5, LAST), n1=(3, LAST))
    assert counts.verdict(3) == Verdict(answer=Answer.GO, known=3)
    assert counts.verdict(4) == Verdict(answer=Answer.END, known=3, total=3)


@WHOLE_ONLY
def test_the_end_is_told_as_soon_as_one_node_has_used_up_its_batches(policy: Uneven) -> None:
    counts = count(policy, n0=(5, MORE), n1=(3, LAST))
    assert counts.verdict(4).answer is Answer.END
    assert counts.verdict(4).total == 3


@WHOLE_ONLY
def test_the_end_is_not_told_while_another_node_may_end_earlier(policy: Uneven) -> None:
    counts = count(policy, n0=(2, MORE), n1=(3, LAST))
    assert counts.verdict(4).answer is Answer.WAIT
    counts.report(0, have=2, final=True)
    assert counts.verdict(4).total == 2


@WHOLE_ONLY
def test_a_node_without_a_whole_batch_is_an_error_that_names_it(policy: Uneven) -> None:
    counts = count(policy, n0=(0, MORE), n1=(3, MORE))
    counts.report(0, have=0, final=True, rows=7)
    with pytest.raises(NoWholeBatch, match=r"node 0 got 7 rows: less than one batch.*df\.repartition"):
        counts.verdict(1)


@WHOLE_ONLY
def test_an_epoch_without_any_row_is_known_as_such_when_all_have_told(policy: Uneven) -> None:
    counts = count(policy, n0=(0, LAST), n1=(0, MORE))
    assert counts.verdict(1).answer is Answer.WAIT
    counts.report(1, have=0, final=True)
    assert counts.verdict(1).total == 0


@WHOLE_ONLY
def test_rows_that_do_not_make_a_batch_anywhere_are_an_error(policy: Uneven) -> None:
    counts = count(policy, n0=(0, LAST), n1=(0, MORE))
    counts.report(1, have=0, final=True, rows=5)
    with pytest.raises(NoWholeBatch, match="node 0 got 0 rows, node 1 got 5 rows"):
        counts.verdict(1)


def test_only_stop_cancels_the_rest_of_a_feed_and_only_at_the_end() -> None:
    some = {policy: count(policy, n0=(1, LAST), n1=(3, MORE)) for policy in (Uneven.DROP, Uneven.STOP)}
    assert not some[Uneven.DROP].verdict(2).cancel_rest
    assert some[Uneven.STOP].verdict(2).cancel_rest
    assert not some[Uneven.STOP].verdict(1).cancel_rest


def test_nothing_is_cancelled_when_everything_has_been_fed() -> None:
    assert not count(Uneven.STOP, n0=(1, LAST), n1=(3, LAST)).verdict(2).cancel_rest


# --- padding ---------------------------------------------------------------------------------------


def test_padding_goes_on_to_the_most_batches() -> None:
    counts = count(Uneven.PAD, n0=(5, LAST), n1=(3, LAST))
    assert counts.verdict(4) == Verdict(answer=Answer.GO, known=5)
    assert counts.verdict(6) == Verdict(answer=Answer.END, known=5, total=5)


def test_a_node_pads_only_what_another_one_is_known_to_have() -> None:
    counts = count(Uneven.PAD, n0=(3, LAST), n1=(3, MORE))
    assert counts.verdict(4).answer is Answer.WAIT
    counts.report(1, have=4, final=False)
    assert counts.verdict(4).answer is Answer.GO
    assert counts.verdict(5).answer is Answer.WAIT


def test_padding_waits_for_a_node_that_may_still_get_the_batch() -> None:
    counts = count(Uneven.PAD, n0=(3, LAST), n1=(9, MORE), n2=(4, MORE))
    assert counts.verdict(4).known == 4
    assert counts.verdict(5).answer is Answer.WAIT
    counts.report(2, have=4, final=True)
    assert counts.verdict(5) == Verdict(answer=Answer.GO, known=9)


def test_a_node_that_got_no_row_cannot_pad_and_is_named() -> None:
    counts = count(Uneven.PAD, n0=(1, MORE), n1=(0, LAST), n2=(2, LAST))
    with pytest.raises(NothingToRepeat, match=r"no row was fed to node 1\b.*df\.repartition"):
        counts.verdict(1)


def test_a_node_without_rows_is_no_error_while_the_others_have_none_either() -> None:
    counts = count(Uneven.PAD, n0=(0, MORE), n1=(0, LAST))
    assert counts.verdict(1).answer is Answer.WAIT
    counts.report(0, have=0, final=True)
    assert counts.verdict(1).total == 0


# --- reports ---------------------------------------------------------------------------------------


@ALL
def test_a_report_that_comes_late_takes_nothing_back(policy: Uneven) -> None:
    counts = count(policy, n0=(4, LAST), n1=(4, LAST))
    counts.report(0, have=2, final=False)
    assert counts.verdict(4).answer is Answer.GO
    assert counts.verdict(5).total == 4
    counts = count(policy, n0=(4, MORE), n1=(4, MORE))
    counts.report(0, have=2, final=False)
    assert counts.verdict(4).answer is Answer.GO


@ALL
def test_a_stranger_is_told_who_trains_in_step(policy: Uneven) -> None:
    with pytest.raises(NotInStep, match=r"node 7 .* 0, 1"):
        LockstepCount([0, 1], policy).report(7, have=1, final=False)
    with pytest.raises(NotInStep):
        LockstepCount([0, 1], policy).leave(7, used=1)


# --- leaving ---------------------------------------------------------------------------------------


@ALL
def test_all_end_where_a_node_stopped_by_itself(policy: Uneven) -> None:
    counts = count(policy, n0=(9, MORE), n1=(9, MORE))
    counts.leave(1, used=4)
    assert counts.verdict(4).answer is Answer.GO
    assert (counts.verdict(5).answer, counts.verdict(5).total) == (Answer.END, 4)


@ALL
def test_batches_that_a_node_was_told_to_take_are_not_taken_back_by_a_leaving_one(policy: Uneven) -> None:
    counts = count(policy, n0=(9, MORE), n1=(6, MORE), n2=(7, MORE))
    assert counts.verdict(1).known == 6
    counts.leave(1, used=4)
    assert counts.verdict(6).answer is Answer.GO
    assert counts.verdict(7).total == 6


def test_batches_to_be_padded_stay_when_the_node_leaves_that_has_them() -> None:
    counts = count(Uneven.PAD, n0=(9, LAST), n1=(2, LAST))
    assert counts.verdict(3).known == 9
    counts.leave(0, used=2)
    assert (counts.verdict(9).answer, counts.verdict(10).total) == (Answer.GO, 9)


@ALL
def test_the_node_that_stopped_first_decides(policy: Uneven) -> None:
    counts = count(policy, n0=(9, MORE), n1=(9, MORE), n2=(9, MORE))
    counts.leave(0, used=3)
    counts.leave(1, used=5)
    assert counts.verdict(4).total == 3


@ALL
def test_when_all_have_left_there_are_no_more_batches(policy: Uneven) -> None:
    counts = count(policy, n0=(9, MORE), n1=(9, MORE))
    counts.leave(0, used=3)
    counts.leave(1, used=3)
    assert counts.verdict(4).total == 3


# --- every order of events, for few batches --------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """Where a node is: what it got, what it told rank 0, what it was told, what it has used."""

    got: int = 0
    final: bool = False
    told: tuple[int, bool] = (0, False)
    known: int = 0
    used: int = 0
    ended: bool = False


World = tuple[Place, ...]


def moves(world: World, counts: Sequence[int], policy: Uneven, room: int) -> Iterator[World]:
    """Yields the worlds that one event leads to."""
    for rank, place in enumerate(world):
        for moved in (
            receive(place, counts[rank], room),
            step(place, min(other.used for other in world)),
            ask(place, rank, world, policy),
        ):
            if moved != place:
                yield (*world[:rank], moved, *world[rank + 1 :])


def receive(place: Place, count: int, room: int) -> Place:
    if place.got < count and place.got - place.used < room:
        return replace(place, got=place.got + 1)
    return replace(place, final=place.got == count)


def step(place: Place, slowest: int) -> Place:
    return replace(place, used=place.used + 1) if place.used < min(place.known, slowest + 1) else place


def ask(place: Place, rank: int, world: World, policy: Uneven) -> Place:
    if place.ended or place.used < place.known or not (place.got > place.used or place.final):
        return place
    told = [other.told for other in world]
    told[rank] = (place.got, place.final)
    asked = replace(place, told=told[rank])
    try:
        verdict = count(policy, **{f"n{number}": report for number, report in enumerate(told)}).verdict(
            place.used + 1
        )
    except NoWholeBatch:
        return replace(asked, ended=True)
    if verdict.answer is Answer.GO:
        return replace(asked, known=verdict.known)
    return replace(asked, ended=verdict.answer is Answer.END)


def last_worlds(counts: Sequence[int], policy: Uneven, room: int) -> set[World]:
    """The worlds out of which no event leads, however the events follow each other."""
    start = (Place(),) * len(counts)
    seen, found, pending = {start}, set(), [start]
    while pending:
        world = pending.pop()
        following = set(moves(world, counts, policy, room))
        if not following:
            found.add(world)
        pending += following - seen
        seen |= following
    return found


@ALL
@pytest.mark.parametrize("room", [1, 2])
def test_no_order_of_events_blocks_and_all_end_alike(policy: Uneven, room: int) -> None:
    for counts in [(1, 1), (1, 2), (2, 2), (1, 3), (1, 1, 2)]:
        expected = max(counts) if policy is Uneven.PAD else min(counts)
        for world in last_worlds(counts, policy, room):
            assert [(place.ended, place.used) for place in world] == [(True, expected)] * len(counts)


@WHOLE_ONLY
def test_no_order_of_events_blocks_where_a_node_has_no_whole_batch(policy: Uneven) -> None:
    for world in last_worlds((0, 2), policy, room=9):
        assert [(place.ended, place.used) for place in world] == [(True, 0)] * 2


# --- random runs with rows, back-pressure and leaving ----------------------------------------------


@dataclass
class Worker:
    """A node of a simulated run: rows come in, batches are used."""

    rank: int
    rows: int = 0
    final: bool = False
    known: int = 0
    used: int = 0
    gone: bool = False
    leaves_after: int | None = None


@dataclass
class Simulation:
    """Nodes that are fed from one queue, each as it has room, and train in step."""

    policy: Uneven
    dice: random.Random
    size: int
    batch: int
    pieces: list[int]
    count: LockstepCount = field(init=False)
    nodes: list[Worker] = field(init=False)

    def __post_init__(self) -> None:
        self.count = LockstepCount(range(self.size), self.policy)
        self.nodes = [Worker(rank) for rank in range(self.size)]

    def run(self) -> None:
        while not all(node.gone for node in self.nodes):
            events = [self.feed, self.end_feed, self.step, self.ask]
            chances = [(event, node) for event in events for node in self.nodes]
            self.dice.shuffle(chances)
            assert any(event(node) for event, node in chances), f"blocked: {self.nodes}"

    def have(self, node: Worker) -> int:
        with_the_rest = node.final and self.policy is Uneven.PAD
        return -(-node.rows // self.batch) if with_the_rest else node.rows // self.batch

    def feed(self, node: Worker) -> bool:
        """A piece goes to a node that has room for it; one that is done with its feed takes any and drops it."""
        has_room = not node.final and node.rows - node.used * self.batch <= 2 * self.batch
        if not self.pieces or not (has_room or node.gone):
            return False
        rows = self.pieces.pop()
        if not node.gone:
            node.rows += rows
        return True

    def end_feed(self, node: Worker) -> bool:
        """The feed of a node ends when all rows are fed, or now and then earlier than that of others."""
        others_go_on = sum(not other.final for other in self.nodes) > 1
        may_end = not self.pieces or (others_go_on and self.dice.random() < 0.02)
        if node.final or not may_end:
            return False
        node.final = True
        return True

    def step(self, node: Worker) -> bool:
        if node.gone or node.used == node.known:
            return False
        if node.used > min(other.used for other in self.nodes if not other.gone):
            return False
        node.used += 1
        if node.used == node.leaves_after:
            self.count.leave(node.rank, used=node.used)
            node.gone = True
        return True

    def ask(self, node: Worker) -> bool:
        have = self.have(node)
        if node.gone or node.used < node.known or not (have > node.used or node.final):
            return False
        self.count.report(node.rank, have=have, final=node.final)
        verdict = self.count.verdict(node.used + 1)
        if verdict.cancel_rest:
            self.pieces.clear()
        if verdict.answer is Answer.END:
            assert verdict.total == node.used
            node.gone = True
        node.known = verdict.known
        return verdict.answer is not Answer.WAIT


def simulation(policy: Uneven, seed: int) -> Simulation:
    dice = random.Random(seed)
    pieces = [dice.randint(1, 7) for _ in range(dice.randrange(60))]
    return Simulation(policy, dice, size=dice.randint(2, 5), batch=dice.randint(1, 9), pieces=pieces)


def end_of(run: Simulation) -> list[int]:
    """The numbers of batches that the nodes of a run have used, or no numbers if a node got too little."""
    try:
        run.run()
    except NoWholeBatch as error:
        if run.policy is Uneven.PAD or any(run.have(run.nodes[rank]) for rank in error.ranks):
            raise
        return []
    except NothingToRepeat as error:
        if run.policy is not Uneven.PAD or any(run.nodes[rank].rows for rank in error.ranks):
            raise
        return []
    return [node.used for node in run.nodes]


@ALL
def test_nodes_in_step_end_alike_whoever_gets_the_rows(policy: Uneven) -> None:
    used_somewhere = 0
    for seed in range(150):
        run = simulation(policy, seed)
        if used := end_of(run):
            counts = [run.have(node) for node in run.nodes]
            expected = max(counts) if policy is Uneven.PAD else min(counts)
            assert used == [expected] * run.size, f"seed {seed}"
            used_somewhere += expected > 0
    assert used_somewhere > 50


@ALL
def test_the_others_stay_in_step_when_a_node_leaves(policy: Uneven) -> None:
    for seed in range(60):
        run = simulation(policy, seed)
        for node in run.nodes:
            node.rows = 10 * run.batch
        leaving = run.dice.choice(run.nodes)
        leaving.leaves_after = run.dice.randint(1, 10)
        run.run()
        staying = {node.used for node in run.nodes if node is not leaving}
        assert len(staying) == 1, f"seed {seed}"
        assert staying.pop() >= leaving.used == leaving.leaves_after


# --- threads ---------------------------------------------------------------------------------------


def agreement(policy: Uneven, size: int) -> LockstepHub:
    return LockstepHub(LockstepCount(range(size), policy))


def take_all(nodes: LockstepHub, rank: int, have: int, barrier: threading.Barrier) -> int:
    """Takes batches in step with other threads, as long as there are any."""
    used = known = 0
    while True:
        if used == known:
            verdict = nodes.agree(rank, have=have, final=True, wanted=used + 1, timeout=20)
            if verdict.answer is not Answer.GO:
                return used
            known = verdict.known
        barrier.wait(timeout=20)
        used += 1


@pytest.mark.parametrize(("policy", "expected"), [(Uneven.DROP, 3), (Uneven.PAD, 8), (Uneven.STOP, 3)])
def test_threads_in_step_end_alike(policy: Uneven, expected: int) -> None:
    nodes, counts = agreement(policy, 4), [5, 3, 8, 4]
    barrier = threading.Barrier(4)
    with ThreadPoolExecutor(4) as pool:
        runs = [pool.submit(take_all, nodes, rank, have, barrier) for rank, have in enumerate(counts)]
        assert [run.result(timeout=30) for run in runs] == [expected] * 4


def test_a_wait_ends_with_the_timeout() -> None:
    before = time.monotonic()
    verdict = agreement(Uneven.DROP, 2).agree(0, have=1, final=False, wanted=1, timeout=0.05)
    assert verdict.answer is Answer.WAIT
    assert 0.05 <= time.monotonic() - before < 10


def test_a_node_that_waits_goes_on_when_another_one_leaves() -> None:
    nodes = agreement(Uneven.DROP, 2)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(nodes.agree, 0, have=1, final=False, wanted=1, timeout=20)
        nodes.leave(1, used=0)
        assert waiting.result(timeout=10).answer is Answer.END


def test_all_that_wait_are_told_that_a_node_cannot_pad() -> None:
    nodes = agreement(Uneven.PAD, 2)
    with ThreadPoolExecutor(2) as pool:
        waiting = [
            pool.submit(nodes.agree, rank, have=have, final=True, wanted=1, timeout=20)
            for rank, have in enumerate([1, 0])
        ]
        assert [type(each.exception(timeout=10)) for each in waiting] == [NothingToRepeat] * 2


# --- messages --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "message",
    [
        Ask(rank=2, have=5, final=True, wanted=6, rows=50),
        Verdict(answer=Answer.WAIT, known=0),
        Verdict(answer=Answer.END, known=3, total=3, cancel_rest=True),
    ],
)
def test_messages_travel_as_json(message: Ask | Verdict) -> None:
    assert type(message).from_json(json.loads(json.dumps(message.to_json()))) == message


@pytest.mark.parametrize("kind", [Ask, Verdict])
def test_something_else_is_no_message(kind: type[Ask] | type[Verdict]) -> None:
    with pytest.raises(InvalidMessage, match="rank"):
        kind.from_json({"rank": "first"})
