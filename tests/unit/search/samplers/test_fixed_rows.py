from __future__ import annotations

import optuna
import pytest
from optuna.storages import InMemoryStorage

from hopyard.errors import InvalidSearch
from hopyard.search.samplers.fixed_rows import RowsSampler
from hopyard.search.space.space import Space

pytestmark = pytest.mark.unit

RAW = {"rate": [0.1, 0.2], "shape": [(1,), (2,)], "one": [1, True], "epochs": 5}
SPACE = Space.of(RAW)


def played(study: optuna.Study, count: int) -> list[dict[str, object]]:
    """Asks for some trials and returns what their functions get."""
    trials = [study.ask() for _ in range(count)]
    for trial in trials:
        SPACE.suggest(trial)
    return [SPACE.arguments(trial.params) for trial in trials]


def test_trials_play_the_rows_in_order() -> None:
    rows = SPACE.grid()
    sampler = RowsSampler(rows)
    assert sampler.total == 8
    assert played(optuna.create_study(sampler=sampler), 8) == [SPACE.arguments(row) for row in rows]


def test_a_resumed_study_goes_on_with_the_next_row() -> None:
    rows = SPACE.grid()
    storage = InMemoryStorage()
    first = played(optuna.create_study(storage=storage, study_name="s", sampler=RowsSampler(rows)), 3)
    rest = played(optuna.load_study(storage=storage, study_name="s", sampler=RowsSampler(rows)), 5)
    assert first + rest == [SPACE.arguments(row) for row in rows]


def test_shuffled_rows_come_once_each_in_the_same_order() -> None:
    rows = SPACE.grid()
    orders = [played(optuna.create_study(sampler=RowsSampler(rows, shuffled=True)), 8) for _ in range(2)]
    assert orders[0] == orders[1]
    in_order = [SPACE.arguments(row) for row in rows]
    assert orders[0] != in_order
    assert sorted(map(repr, orders[0])) == sorted(map(repr, in_order))


def test_a_study_that_is_resumed_in_another_order_still_plays_each_row_once() -> None:
    rows = SPACE.grid()
    storage = InMemoryStorage()
    study = optuna.create_study(storage=storage, study_name="s", sampler=RowsSampler(rows))
    first = played(study, 3)
    study.add_trial(optuna.trial.create_trial(value=1.0))  # that nobody asked for
    shuffled = RowsSampler(rows, shuffled=True)
    rest = played(optuna.load_study(storage=storage, study_name="s", sampler=shuffled), 5)
    assert sorted(map(repr, first + rest)) == sorted(repr(SPACE.arguments(row)) for row in rows)


def test_there_is_no_trial_after_the_last_row() -> None:
    study = optuna.create_study(sampler=RowsSampler(SPACE.grid()[:1]))
    played(study, 1)
    with pytest.raises(InvalidSearch, match=r"no trial number 1\. The study has 1 trials"):
        played(study, 1)


def test_a_row_that_lacks_a_parameter_says_so() -> None:
    study = optuna.create_study(sampler=RowsSampler([{"rate": 0.1}]))
    with pytest.raises(InvalidSearch, match="trial 0 has no 'shape'"):
        played(study, 1)
