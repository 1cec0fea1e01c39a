from __future__ import annotations

import os
import subprocess
import sys

import pytest

from hopyard.run.backend_choice import process_application_id

pytestmark = pytest.mark.unit


def test_the_id_stays_the_same_in_a_process() -> None:
    assert process_application_id() == process_application_id()
    assert process_application_id().endswith(f"-{os.getpid()}")


def test_another_process_has_another_id() -> None:
    code = "from hopyard.run.backend_choice import process_application_id as p; print(p(), end='')"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert other.startswith("process-2")
    assert other != process_application_id()
