"""Scalars of PyTorch are reported as numbers."""

from __future__ import annotations

import pytest

from hopyard.errors import BadReport
from hopyard.run.scalar import as_metrics, as_step

pytestmark = pytest.mark.torch


def test_scalar_tensors_are_steps_and_metrics() -> None:
    import torch

    assert as_step(torch.tensor(3)) == 3
    loss = torch.tensor(0.5, requires_grad=True)
    assert as_metrics({"loss": loss, "accuracy": torch.tensor([0.25])}) == {"loss": 0.5, "accuracy": 0.25}


def test_other_tensors_are_refused() -> None:
    import torch

    with pytest.raises(BadReport, match="the step is"):
        as_step(torch.tensor(True))
    with pytest.raises(BadReport, match="the metric 'loss' is"):
        as_metrics({"loss": torch.tensor([0.5, 0.25])})
