from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.unit
EXAMPLES = Path(__file__).parents[3] / "examples"


def test_the_example_without_spark_runs_as_a_script(hopyard_root: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "no_spark.py")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    match = re.fullmatch(r"pi is about 3\.14159; the run is kept in (.+)\n", done.stdout)
    assert match is not None, done.stdout
    assert "node 0 of 2" in Path(match[1], "logfile").read_text()
    assert match[1].startswith(str(hopyard_root))
