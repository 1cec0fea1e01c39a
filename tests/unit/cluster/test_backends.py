from __future__ import annotations

import pytest

from hopyard.cluster.backend import Backend
from hopyard.cluster.inline import InlineBackend
from hopyard.cluster.processes import ProcessesBackend
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
