"""A PyTorch program for the Hops library saves its model as the documents show it."""

from __future__ import annotations

import pytest

from hops import experiment, hdfs, tensorboard

pytestmark = pytest.mark.torch


def test_a_model_that_is_saved_behind_the_log_folders_name_is_kept_with_the_run() -> None:
    import torch

    folder = experiment.begin(name="mnist", local_logdir=True)
    torch.save(torch.nn.Linear(2, 1).state_dict(), tensorboard.logdir() + "mnist_cnn.pt")
    experiment.end(0.9)
    with hdfs.open_file(f"{folder}/mnist_cnn.pt", flags="r") as file:
        assert set(torch.load(file)) == {"weight", "bias"}
