from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from typing import Any

import optuna
import pytest
from optuna.pruners import BasePruner, NopPruner, ThresholdPruner
from optuna.samplers import BaseSampler, RandomSampler
from optuna.study import StudyDirection

from hopyard.search.samplers.fixed_rows import RowsSampler
from hopyard.search.samplers.pruners import pruner_for
from hopyard.search.space.parameters import Range
from hopyard.search.space.space import Space
from hopyard.search.study.quiet import quiet_optuna
from hopyard.search.study.trials import StudyTrials, record_of
from hopyard.tracking import TrialRecord, TrialState

pytestmark = pytest.mark.unit

MAX, MIN = StudyDirection.MAXIMIZE, StudyDirection.MINIMIZE
ROWS = [{"x": 0.1, "layer": "relu"}, {"x": 0.2, "layer": "tanh"}, {"x": 0.1, "layer": "relu"}]
SPACE = Space.of({"x": Range(0.0, 1.0), "layer": ["relu", "tanh"]})


def new_study(
    *,
    pruner: BasePruner | None = None,
    sampler: BaseSampler | None = None,
    directions: Sequence[StudyDirection] = (MAX,),
) -> optuna.Study:
    with quiet_optuna():
        return optuna.create_study(
            sampler=sampler or RowsSampler(ROWS), pruner=pruner or NopPruner(), directions=directions
        )


def ledger_of(study: optuna.Study) -> StudyTrials:
    return StudyTrials(study, SPACE, metric="accuracy")


def end_of(number: int, *values: float, state: TrialState = TrialState.FINISHED, **more: Any) -> TrialRecord:
    return TrialRecord(number=number, params={}, state=state, values=values, **more)


def records(study: optuna.Study) -> list[TrialRecord]:
    return [record_of(trial) for trial in study.trials]


def ask(ledger: StudyTrials, times: int = 1) -> None:
    for _ in range(times):
        assert ledger.ask() is not None


def test_a_trial_has_a_number_parameters_arguments_and_a_folder() -> None:
    ledger = ledger_of(new_study())
    trial = ledger.ask()
    assert trial is not None
    assert (trial.number, trial.attempt) == (0, 0)
    assert trial.params == pickle.loads(trial.arguments) == {"x": 0.1, "layer": "relu"}
    assert trial.folder == "x=0.1.layer=relu"
    assert ledger.asked == 1


def test_the_same_parameters_again_have_another_folder() -> None:
    ledger = ledger_of(new_study())
    folders = [trial.folder for trial in (ledger.ask(), ledger.ask(), ledger.ask()) if trial is not None]
    assert folders == ["x=0.1.layer=relu", "x=0.2.layer=tanh", "x=0.1.layer=relu.trial-2"]


def test_what_was_told_of_a_trial_is_what_its_record_says() -> None:
    study = new_study()
    ledger = ledger_of(study)
    ask(ledger)
    told = end_of(
        0,
        0.5,
        host="vine",
        attempt=2,
        result={"loss": 0.1},
        folder="x=0.1.layer=relu",
        started=10.0,
        ended=12.0,
    )
    ledger.tell(told)
    (record,) = records(study)
    assert (record.state, record.values, record.result) == (TrialState.FINISHED, (0.5,), {"loss": 0.1})
    assert (record.host, record.attempt, record.folder) == ("vine", 2, "x=0.1.layer=relu")
    assert (record.started, record.ended) == (10.0, 12.0)
    assert record.params == {"x": 0.1, "layer": "relu"}


def test_a_failure_is_on_record_with_its_reason() -> None:
    study = new_study()
    ledger = ledger_of(study)
    ask(ledger)
    ledger.tell(end_of(0, state=TrialState.FAILED, error_type="ValueError", error="no weights"))
    (record,) = records(study)
    assert (record.state, record.error_type, record.error) == (TrialState.FAILED, "ValueError", "no weights")
    assert ledger.ends == {TrialState.FAILED: 1}
    assert ledger.best is None


def test_a_trial_that_returned_nothing_is_finished_without_a_value() -> None:
    study = new_study()
    ledger = ledger_of(study)
    ask(ledger)
    ledger.report(0, [(1, {"accuracy": 0.5})])
    ledger.tell(end_of(0))
    (record,) = records(study)
    assert (record.state, record.values) == (TrialState.FINISHED, ())
    assert ledger.ends == {TrialState.FINISHED: 1}
    assert ledger.best is None


@pytest.mark.parametrize(("direction", "best"), [(MAX, 1), (MIN, 0)])
def test_the_best_trial_is_the_best_in_the_direction_of_the_study(
    direction: StudyDirection, best: int
) -> None:
    ledger = ledger_of(new_study(directions=[direction]))
    ask(ledger, 3)
    for number, value in enumerate([-1.0, 2.0, 0.0]):
        ledger.tell(end_of(number, value))
    assert ledger.best is not None
    assert ledger.best.number == best


def test_of_trials_that_are_as_good_the_first_one_is_the_best() -> None:
    ledger = ledger_of(new_study())
    ask(ledger, 2)
    ledger.tell(end_of(1, 0.0))
    ledger.tell(end_of(0, 0.0))
    assert ledger.best is not None
    assert ledger.best.number == 1


def test_several_objectives_have_no_single_best() -> None:
    study = new_study(directions=[MAX, MIN])
    ledger = ledger_of(study)
    ask(ledger)
    assert not ledger.report(0, [(1, {"accuracy": 0.5})])
    ledger.tell(end_of(0, 0.5, 3.0))
    assert ledger.best is None
    assert records(study)[0].values == (0.5, 3.0)


def test_a_hopeless_trial_is_told_so_and_keeps_its_last_value() -> None:
    study = new_study(pruner=ThresholdPruner(lower=0.2))
    ledger = ledger_of(study)
    ask(ledger)
    assert not ledger.report(0, [(1, {"accuracy": 0.5, "loss": 0.0})])
    assert ledger.report(0, [(2, {"loss": 0.0}), (3, {"accuracy": 0.1})])
    ledger.tell(end_of(0, state=TrialState.PRUNED))
    (record,) = records(study)
    assert (record.state, record.values) == (TrialState.PRUNED, (0.1,))


@pytest.mark.parametrize("name", ["median", "asha", "hyperband", "patience"])
def test_the_verdict_of_each_pruner_can_travel(name: str) -> None:
    study = new_study(pruner=pruner_for(name), sampler=RandomSampler(seed=1))
    ledger = ledger_of(study)
    verdicts = []
    for number in range(30):
        ask(ledger)
        for step in range(1, 28):
            verdicts.append(ledger.report(number, [(step, {"accuracy": 1.0 - number / 30 - step / 1000})]))
            if verdicts[-1]:
                ledger.tell(end_of(number, state=TrialState.PRUNED))
                break
        else:
            ledger.tell(end_of(number, 1.0))
    assert {json.dumps(verdict) for verdict in verdicts} == {"true", "false"}


def test_a_pruner_goes_by_the_metric_or_by_the_only_one_there_is() -> None:
    study = new_study()
    ledger = ledger_of(study)
    ask(ledger)
    points = [(1, {"accuracy": 0.5, "loss": 3.0}), (2, {"score": 2.0}), (3, {"score": 1.0, "loss": 9.0})]
    ledger.report(0, points)
    assert study.trials[0].intermediate_values == {1: 0.5, 2: 2.0}


@pytest.mark.parametrize(("direction", "compared"), [(MAX, {}), (MIN, {1: 2.0})])
def test_a_loss_by_itself_is_not_maximised(direction: StudyDirection, compared: dict[int, float]) -> None:
    study = new_study(directions=[direction])
    ledger = ledger_of(study)
    ask(ledger)
    ledger.report(0, [(1, {"loss": 2.0})])
    assert study.trials[0].intermediate_values == compared


def test_a_ledger_of_a_study_that_goes_on_knows_what_has_ended() -> None:
    study = new_study()
    earlier = ledger_of(study)
    ask(earlier, 2)
    earlier.tell(end_of(0, 0.7))
    ledger = ledger_of(study)
    assert ledger.asked == 2
    assert ledger.ends == {TrialState.FINISHED: 1}
    assert ledger.best is not None
    assert ledger.best.number == 0


def test_trials_that_were_under_way_are_given_out_again_as_they_were() -> None:
    study = new_study()
    earlier = ledger_of(study)
    first, second = earlier.ask(), earlier.ask()
    assert first is not None
    assert second is not None
    earlier.tell(end_of(0, 0.7))
    ledger = ledger_of(study)
    (again,) = ledger.unfinished()
    assert (again.number, again.params, again.folder) == (1, second.params, second.folder)
    assert again.attempt == 1
    ledger.tell(end_of(1, 0.9))
    third = ledger.ask()
    assert third is not None
    assert (third.number, third.folder) == (2, "x=0.1.layer=relu.trial-2")
    assert [record.state for record in records(study)][:2] == [TrialState.FINISHED] * 2


def test_a_trial_that_runs_again_is_judged_from_where_it_was() -> None:
    study = new_study(pruner=ThresholdPruner(lower=0.2))
    earlier = ledger_of(study)
    ask(earlier)
    earlier.report(0, [(1, {"accuracy": 0.5}), (2, {"accuracy": 0.4})])
    ledger = ledger_of(study)
    ledger.unfinished()
    assert not ledger.report(0, [(1, {"accuracy": 0.1}), (2, {"accuracy": 0.1})])
    assert ledger.report(0, [(3, {"accuracy": 0.1})])
    assert study.trials[0].intermediate_values == {1: 0.5, 2: 0.4, 3: 0.1}
