from __future__ import annotations

from types import ModuleType, SimpleNamespace
from typing import Any, cast

import pytest

from hopyard.frameworks.joined import OTHERS, is_joined

pytestmark = pytest.mark.unit


def loaded(**modules: Any) -> dict[str, ModuleType]:
    return cast("dict[str, ModuleType]", modules)


def answering(*, is_initialized: bool, is_available: bool = True) -> SimpleNamespace:
    return SimpleNamespace(is_available=lambda: is_available, is_initialized=lambda: is_initialized)


def test_processes_without_such_libraries_are_not_joined() -> None:
    assert not is_joined(loaded(numpy=None))


@pytest.mark.parametrize("is_initialized", [False, True])
def test_pytorch_and_jax_are_asked(is_initialized: bool) -> None:
    answers = answering(is_initialized=is_initialized)
    assert is_joined(loaded(torch=SimpleNamespace(distributed=answers))) is is_initialized
    assert is_joined(loaded(jax=SimpleNamespace(distributed=answers))) is is_initialized


def test_a_pytorch_without_distribution_is_not_asked_further() -> None:
    distributed = answering(is_available=False, is_initialized=True)
    assert not is_joined(loaded(torch=SimpleNamespace(distributed=distributed)))


def test_a_jax_that_cannot_be_asked_may_be_joined() -> None:
    assert is_joined(loaded(jax=SimpleNamespace(distributed=SimpleNamespace())))


@pytest.mark.parametrize("name", OTHERS)
def test_who_has_loaded_another_library_of_the_kind_is_taken_to_use_it(name: str) -> None:
    assert is_joined(loaded(**{name: None}))
