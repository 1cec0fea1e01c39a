from __future__ import annotations

import ipaddress
from pathlib import Path

import pytest

from hops import util
from hopyard.errors import NoActiveSpark

pytestmark = pytest.mark.unit


def test_a_grid_has_every_combination_and_the_last_parameter_changes_fastest() -> None:
    args_dict = {"learning_rate": [0.001, 0.0005, 0.0001], "dropout": [0.45, 0.7]}
    assert util.grid_params(args_dict) == {
        "learning_rate": [0.001, 0.001, 0.0005, 0.0005, 0.0001, 0.0001],
        "dropout": [0.45, 0.7, 0.45, 0.7, 0.45, 0.7],
    }


def test_a_grid_of_nothing_is_empty() -> None:
    assert util.grid_params({}) == {}
    assert util.grid_params({"a": [1], "b": []}) == {"a": [], "b": []}


def test_tensorboard_is_found() -> None:
    assert Path(util.find_tensorboard()).is_file()


def test_the_address_is_one() -> None:
    ipaddress.ip_address(util.get_ip_address())


def test_without_a_session_there_are_no_executors_to_count() -> None:
    with pytest.raises(NoActiveSpark):
        util.num_executors()
