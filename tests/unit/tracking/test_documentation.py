from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.unit

PAGE = Path(__file__).parents[3] / "docs" / "tracking.md"


def test_the_examples_of_the_page_run_in_order() -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    assert names["last"].record().name == "digits"
