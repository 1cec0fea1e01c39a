from __future__ import annotations

import optuna
import pytest

from hopyard.search.samplers.fixed_rows import RowsSampler
from hopyard.search.samplers.own_sampler import OwnSampler

pytestmark = pytest.mark.unit


def test_a_sampler_has_no_end_unless_it_says_so() -> None:
    assert OwnSampler.total.fget(RowsSampler([])) is None


def test_a_sampler_neither_waits_nor_groups_unless_it_says_so() -> None:
    study = optuna.create_study(sampler=RowsSampler([{}]))
    study.ask()
    assert study.sampler.is_ready(study)
    assert study.sampler.group(study.trials[0]) == ""
