from __future__ import annotations

import warnings

import optuna
import pytest
from optuna.pruners import BasePruner, NopPruner, PatientPruner, ThresholdPruner

from hopyard.errors import InvalidSearch
from hopyard.search.samplers.pruners import pruner_for

pytestmark = pytest.mark.unit


def pruned_at(pruner: BasePruner, curves: list[list[float]]) -> list[int | None]:
    """Returns at which step each of some trials, one after the other, is pruned; small values are good."""
    study = optuna.create_study(pruner=pruner, study_name="s")
    steps: list[int | None] = []
    for curve in curves:
        trial = study.ask()
        steps.append(None)
        for step, value in enumerate(curve):
            trial.report(value, step)
            if trial.should_prune():
                steps[-1] = step
                study.tell(trial, state=optuna.trial.TrialState.PRUNED)
                break
        else:
            study.tell(trial, curve[-1])
    return steps


GOOD = [1.0] * 30
BAD = [5.0] * 30
IMPROVING = [9.0 - step / 10 for step in range(30)]


@pytest.mark.parametrize("name", ["none", None])
def test_none_prunes_nothing(name: str | None) -> None:
    assert isinstance(pruner_for(name), NopPruner)


def test_median_prunes_a_trial_that_is_worse_than_half_of_the_others() -> None:
    assert pruned_at(pruner_for("median"), [GOOD] * 5 + [BAD, GOOD])[5:] == [0, None]


def test_asha_prunes_at_steps_that_grow_threefold_from_three() -> None:
    falls_back = [1.0, 1.0, 1.0, 1.0, *[9.0] * 26]
    assert pruned_at(pruner_for("asha"), [GOOD] * 3 + [BAD, falls_back])[3:] == [3, 9]


def test_hyperband_learns_the_number_of_steps_from_the_first_trial() -> None:
    steps = pruned_at(pruner_for("hyperband"), [[float(trial)] * 30 for trial in range(40)])
    assert steps[0] is None
    assert {step for step in steps if step is not None} <= {1, 3, 9, 27}
    assert sum(step is not None for step in steps) >= 20


def test_patience_spares_a_trial_that_is_bad_and_becomes_better() -> None:
    assert pruned_at(pruner_for("patience"), [GOOD] * 5 + [IMPROVING]) == [None] * 6


def test_patience_spares_a_trial_that_is_good_and_has_come_to_a_halt() -> None:
    stalled = [0.5, *[0.6] * 29]
    assert pruned_at(pruner_for("patience"), [GOOD] * 5 + [stalled]) == [None] * 6


def test_patience_ends_a_trial_that_is_bad_and_does_not_become_better() -> None:
    worse = [5.0 + step for step in range(30)]
    (step,) = pruned_at(pruner_for("patience"), [GOOD] * 5 + [worse])[5:]
    assert step is not None
    assert 3 <= step <= 5


def test_a_pruner_is_made_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert isinstance(pruner_for("patience"), PatientPruner)


def test_a_pruner_of_optuna_stays_as_it_is() -> None:
    own = ThresholdPruner(upper=1.0)
    assert pruner_for(own) is own


def test_an_unknown_pruner_is_refused_with_a_near_one() -> None:
    with pytest.raises(InvalidSearch, match=r"Did you mean 'median'. Use none, median, asha, hyperband"):
        pruner_for("medain")


def test_a_pruner_is_suggested_by_its_meaning() -> None:
    with pytest.raises(InvalidSearch, match="Did you mean 'asha'"):
        pruner_for("successive_halving")
