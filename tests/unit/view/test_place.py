from __future__ import annotations

import io
from types import SimpleNamespace

import pytest

from hopyard.view.place import is_terminal

pytestmark = pytest.mark.unit


def test_what_stands_in_for_a_stream_need_not_know_about_terminals() -> None:
    closed = io.StringIO()
    closed.close()
    assert not is_terminal(closed)
    assert not is_terminal(None)
    assert not is_terminal(SimpleNamespace(write=print))  # type: ignore[arg-type]
