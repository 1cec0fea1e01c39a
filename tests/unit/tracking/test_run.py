"""A run as a later program gets it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import hopyard
from hopyard.codec.records import encode_file
from hopyard.errors import RunNotFound
from hopyard.store import Project
from hopyard.tracking import NodeWriter, RunState, RunWriter, TrialRecord, TrialState, load_run, run_paths

pytestmark = pytest.mark.unit
Begin = Callable[..., RunWriter]


def train(rate: float, ctx: hopyard.NodeContext) -> dict[str, float]:
    print("node", ctx.rank)
    for step in range(3):
        ctx.report(step, loss=rate / (step + 1))
    Path(ctx.logdir, "model.bin").write_bytes(b"weights")
    return {"loss": rate / 3, "worst": math.nan}


def test_a_finished_run_is_loaded_with_all_that_was_kept_of_it() -> None:
    result = hopyard.launch(train, {"rate": 0.3}, nodes=2, backend="processes", name="line")
    run = hopyard.load_run(result.run_id)
    assert (run.run_id, run.name, run.state) == (result.run_id, "line", RunState.FINISHED)
    assert (run.value["loss"], math.isnan(run.value["worst"])) == (result.value["loss"], True)
    assert (run.parameters, run.error, run.record.nodes) == ({"rate": 0.3}, None, 2)
    assert run.metrics() == run.metrics(rank=1) == {"loss": {0: 0.3, 1: 0.15, 2: 0.3 / 3}}
    assert (run.log(), run.log(1)) == ("node 0", "node 1")
    assert run.files() == ("model.bin", "node.1/model.bin")
    assert (run.logdir, run.path("model.bin")) == (result.logdir, result.path("model.bin"))
    assert Path(run.path("node.1/model.bin")).read_bytes() == b"weights"
    assert run.path(Path("model.bin")) == result.path(Path("model.bin")) == run.path("model.bin")
    assert hopyard.load_run(Path(result.logdir)).run_id == run.run_id
    assert repr(run) == f"<Run {result.run_id} 'line' FINISHED>"
    assert hopyard.load_run(result.logdir).run_id == hopyard.load_run("line").run_id == run.run_id


def test_a_run_that_failed_or_goes_on_is_loaded_too(project: Project, begin: Begin) -> None:
    goes_on, failed = begin(name="on"), begin(name="bad")
    goes_on.heartbeat()
    failed.finish(RunState.FAILED, error="ValueError: no")
    assert load_run("bad", project).error == "ValueError: no"
    assert load_run("bad", project).value is None
    assert load_run("on", project).state is RunState.LOST  # the clock of these tests stands in 1970
    assert (load_run("on", project).files(), load_run("on", project).metrics()) == ((), {})


def test_a_trial_is_loaded_by_its_folder(project: Project, begin: Begin) -> None:
    study = begin(name="search")
    trial = replace(study.id, trial="x=1")
    with NodeWriter(project, trial, 0) as node:
        node.log("tried")
    record = TrialRecord(number=0, params={"x": 1}, state=TrialState.FINISHED, values=(0.5,), folder="x=1")
    paths = run_paths(project, trial)
    project.put(paths.trial_record, encode_file(record))
    project.put(f"{paths.folder}/model.bin", b"")
    run = load_run("search/x=1", project)
    assert (run.value, run.parameters, run.log(), run.files()) == (0.5, {"x": 1}, "tried", ("model.bin",))
    assert load_run(project.url(paths.folder), project).run_id == run.run_id


def test_an_unknown_run_is_refused(project: Project) -> None:
    with pytest.raises(RunNotFound, match="It has no runs yet"):
        load_run("nothing", project)
