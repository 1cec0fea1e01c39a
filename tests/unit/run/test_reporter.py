from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hopyard import Project
from hopyard.errors import BadArguments, BadReport, NotInsideRun, TrialStopped
from hopyard.protocol.channel import VARIABLE, Reading, parse
from hopyard.protocol.cluster_map import ClusterMap
from hopyard.protocol.plan import Plan
from hopyard.run.reporter import Reporter
from hopyard.tracking import RunId
from hopyard.worker.task import NodePlace, NodeTask

pytestmark = pytest.mark.unit


class Recorded:
    """A context that keeps what is reported, and is to end after some reports."""

    def __init__(self, reports: int = 1000) -> None:
        self.reported: list[tuple[int, dict[str, float]]] = []
        self._reports = reports

    def report(self, step: int, **metrics: float) -> None:
        self.reported.append((step, metrics))

    def should_stop(self) -> bool:
        return len(self.reported) >= self._reports


def test_without_a_context_the_node_itself_reports_and_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = Plan.of(1)
    task = NodeTask(
        node=plan.nodes[0], plan=plan, run_id=RunId("app", "launcher", 1), project=Project.open(), payload=b""
    )
    members = ClusterMap.of({plan.nodes[0]: "10.0.0.1:80"})
    place = NodePlace(scratch=tmp_path, checkpoints=tmp_path, members=members, port=-1)
    for name, value in task.variables(place).items():
        monkeypatch.setenv(name, value)
    (tmp_path / "stop").touch()
    with (tmp_path / "channel").open("wb") as channel:
        monkeypatch.setenv(VARIABLE, str(channel.fileno()))
        with pytest.raises(TrialStopped):
            Reporter()(7, loss=0.5)
    reading = parse((tmp_path / "channel").read_bytes())
    assert isinstance(reading, Reading)
    assert (reading.name, reading.step, reading.value) == ("loss", 7, 0.5)


def test_metrics_of_each_step_are_reported() -> None:
    ctx = Recorded()
    report = Reporter(ctx)
    report(0, accuracy=0.5, loss=2)
    report(1, accuracy=0.75, loss=1)
    assert ctx.reported == [(0, {"accuracy": 0.5, "loss": 2.0}), (1, {"accuracy": 0.75, "loss": 1.0})]


def test_scalars_of_a_framework_become_numbers() -> None:
    ctx = Recorded()
    Reporter(ctx)(0, accuracy=np.float32(0.5), loss=np.array(0.25))
    assert [type(value) for value in ctx.reported[0][1].values()] == [float, float]


def test_the_step_at_which_a_trial_is_to_end_is_reported_first() -> None:
    ctx = Recorded(reports=2)
    report = Reporter(ctx)
    report(0, loss=2.0)
    with pytest.raises(TrialStopped, match="step 1"):
        report(1, loss=1.0)
    assert [step for step, _ in ctx.reported] == [0, 1]


def test_steps_in_between_are_passed_over() -> None:
    ctx = Recorded()
    report = Reporter(ctx, every=10)
    for step in range(25):
        report(step, loss=1.0)
    assert [step for step, _ in ctx.reported] == [0, 10, 20]


def test_a_reporter_of_no_steps_is_refused() -> None:
    with pytest.raises(BadArguments, match="every=0 is not valid"):
        Reporter(Recorded(), every=0)


def test_a_step_that_is_no_number_is_refused_even_if_it_would_be_passed_over() -> None:
    with pytest.raises(BadReport, match=r"the step is '12' \(type str\)"):
        Reporter(Recorded(), every=10)("12", loss=1.0)  # type: ignore[arg-type]


def test_a_metric_that_is_no_number_is_refused() -> None:
    with pytest.raises(BadReport, match="the metric 'loss' is None"):
        Reporter(Recorded())(0, loss=None)  # type: ignore[arg-type]


def test_outside_a_run_a_context_has_to_be_given() -> None:
    with pytest.raises(NotInsideRun):
        Reporter()


def test_a_reporter_given_to_keras_says_what_is_a_callback() -> None:
    with pytest.raises(BadArguments, match=r"no callback of Keras; give .*as_keras_callback\(\)"):
        Reporter(Recorded()).set_model(None)
