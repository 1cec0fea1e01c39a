from __future__ import annotations

import pytest

from hopyard.backends.base import Backend
from hopyard.backends.inline import InlineBackend
from hopyard.backends.processes import ProcessesBackend
from hopyard.testing.backend_contract import BackendContract, ProcessContract

pytestmark = pytest.mark.unit


class TestInline(BackendContract):
    @pytest.fixture
    def backend(self) -> Backend:
        return InlineBackend()


class TestProcesses(ProcessContract):
    @pytest.fixture
    def backend(self) -> Backend:
        return ProcessesBackend()
