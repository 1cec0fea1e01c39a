from __future__ import annotations

import optuna
import pytest
from optuna.storages import InMemoryStorage

from hopyard.errors import InvalidSearch
from hopyard.search.reading import Lists
from hopyard.search.rows import RowsSampler
from hopyard.search.space import Space

pytestmark = pytest.mark.unit

RAW = {"rate": [0.1, 0.2], "shape": [(1,), (2,)], "one": [1, True], "epochs": 5}
SPACE = Space.of(RAW, lists=Lists.VALUES)


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


def test_there_is_no_trial_after_the_last_row() -> None:
    study = optuna.create_study(sampler=RowsSampler(SPACE.grid()[:1]))
    played(study, 1)
    with pytest.raises(InvalidSearch, match="a trial number 1: it has 1 trials"):
        played(study, 1)


def test_a_row_that_lacks_a_parameter_says_so() -> None:
    study = optuna.create_study(sampler=RowsSampler([{"rate": 0.1}]))
    with pytest.raises(InvalidSearch, match="'shape' in trial 0"):
        played(study, 1)
