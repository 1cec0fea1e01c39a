from __future__ import annotations

import os

import pytest

from hopyard.wire.quiet import quiet_grpc

pytestmark = pytest.mark.unit


def test_the_environment_is_as_before_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GRPC_VERBOSITY", raising=False)
    with quiet_grpc():
        assert os.environ["GRPC_VERBOSITY"] == "NONE"
    assert "GRPC_VERBOSITY" not in os.environ


def test_a_setting_of_the_user_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRPC_VERBOSITY", "DEBUG")
    with quiet_grpc():
        assert os.environ["GRPC_VERBOSITY"] == "DEBUG"
    assert os.environ["GRPC_VERBOSITY"] == "DEBUG"
