"""`hopyard search`: many trials of a function from a file, and which parameters were best."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from hopyard.cli.demo.demo import QUICK_START, Where
from hopyard.cli.output import console
from hopyard.cli.output.wording import duration
from hopyard.cli.search import options as option
from hopyard.cli.search.function_file import load_function
from hopyard.cli.search.space_file import read_space
from hopyard.cli.settings import Settings
from hopyard.cli.trials import ORDER, shown_params, shown_values
from hopyard.spark.session.supported import require_pyspark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from hopyard.search.options import SearchOptions
    from hopyard.search.study.study import Study
    from hopyard.store import Project
    from hopyard.tracking import TrialRecord

SUBMITTED = "PYSPARK_GATEWAY_PORT"  # spark-submit sets it
MOST_BEST = 10


def search(
    context: typer.Context,
    *,
    function: option.Function,
    space: option.SpaceFile,
    sampler: option.Sampler = "tpe",
    trials: option.Trials = None,
    direction: option.Direction = None,
    metric: option.Metric = None,
    parallel: option.Parallel = None,
    pruner: option.Pruner = None,
    name: option.Name = None,
    resume: option.Resume = False,
    seed: option.Seed = None,
    timeout: option.Timeout = None,
    trial_timeout: option.TrialTimeout = None,
    retries: option.Retries = 0,
    isolate: option.Isolate = False,
    backend: option.Backend = Where.SPARK,
    master: option.Master = None,
) -> None:
    """Try a function with different parameters, many at a time.

    For example: hopyard search train.py:train --space space.yaml --trials 50 --pruner asha
    """
    settings = Settings.of(context)
    loaded = load_function(function)
    parameters = read_space(space)
    project = settings.open_project()
    project.mkdir(project.layout.logs)  # a project that cannot be written to is told before Spark starts
    options: SearchOptions = {
        "direction": one_or_all(direction) or None,
        "metric": one_or_all(metric),
        "parallel": parallel,
        "pruner": pruner,
        "name": name,
        "resume": resume,
        "seed": seed,
        "timeout": timeout,
        "trial_timeout": trial_timeout,
        "retries": retries,
        "isolate": isolate,
        "backend": backend.value,
        "project": project,
    }
    from hopyard.search.api import request_of

    request_of(
        loaded, parameters, sampler, None, trials, options
    ).check()  # a mistake is told before Spark starts
    try:
        with spark_session(backend, master, parallel) as spark:
            options["spark"] = spark
            request = request_of(loaded, parameters, sampler, None, trials, options)
            study = request.run(lambda name: settings.again("--resume", "--name", name))
    except KeyboardInterrupt as interrupt:
        for note in getattr(interrupt, "__notes__", ()):
            console.note(note)
        raise
    show(study, project, settings)


def one_or_all(values: Sequence[str] | None) -> str | Sequence[str] | None:
    """Returns the value of an option that may be repeated: by itself if there is one, None if there is none."""
    return values[0] if values and len(values) == 1 else values or None


@contextmanager
def spark_session(backend: Where, master: str | None, parallel: int | None) -> Iterator[SparkSession | None]:
    """Gives a Spark with room for so many trials, or None where none is wanted."""
    if backend is not Where.SPARK:
        yield None
        return
    began = time.monotonic()
    with console.busy("Starting Spark"):
        is_foreign = master is not None or SUBMITTED in os.environ
        spark = foreign_spark(master) if is_foreign else own_spark(parallel)
    try:
        console.note(f"Spark {spark.version} runs ({duration(time.monotonic() - began)})")
        yield spark
    finally:
        with console.busy("Stopping Spark"):
            spark.stop()


def own_spark(parallel: int | None) -> SparkSession:
    """Returns an embedded Spark; one executor is enough, since trials run in processes of their own."""
    from hopyard.spark.session import local_spark

    cores = parallel or len(os.sched_getaffinity(0))
    return local_spark(executors=1, cores=cores, conf={"spark.executor.extraJavaOptions": QUICK_START})


def foreign_spark(master: str | None) -> SparkSession:
    """Returns a session on a cluster: the one that a master leads, or that spark-submit has chosen.

    Raises:
        MissingDependency: pyspark is not installed.
        SparkUnusable: It is too old.
    """
    require_pyspark("hopyard search")
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("hopyard search")
    return (builder if master is None else builder.master(master)).getOrCreate()


def show(study: Study, project: Project, settings: Settings) -> None:
    """Prints what came of a study and how to look further.

    Raises:
        Exit: No trial ended well.
    """
    from hopyard.tracking import RunId, study_record

    counts = Counter(trial.state.value for trial in study.trials)
    parts = ", ".join(f"{counts[state]} {state.lower()}" for state in ORDER if counts[state])
    console.line(f"{len(study.trials)} trials: {parts or 'none'}")
    if not counts["FINISHED"] and not counts["PRUNED"]:
        console.error(f"no trial ended well; why: {settings.command('trials', study.run_id, '--failed')}")
        raise typer.Exit(1)
    record = study_record(project, RunId.parse(study.run_id))
    best = best_of(study)
    for trial in best[:MOST_BEST]:
        values = shown_values(trial, record.objectives if record else ())
        console.line(f"Best: trial {trial.number}, {values}  ({shown_params(trial)})", style="bold green")
    console.line()
    for text in console.aligned(further(study, best, settings)):
        console.line(text)


def best_of(study: Study) -> Sequence[TrialRecord]:
    """Returns the best trial, or those that no other one beats in all objectives; none if none has a value."""
    from hopyard.errors import NothingFound

    if len(study.optuna_study.directions) > 1:
        return study.best_trials
    try:
        return [study.best_trial]
    except NothingFound:
        return []


def further(study: Study, best: Sequence[TrialRecord], settings: Settings) -> list[tuple[str, str]]:
    """Returns where the study is, and the commands that show more of it."""
    rows = [("Study folder", study.logdir)]
    if len(best) == 1:
        log = settings.command("logs", study.run_id, "--trial", str(best[0].number))
        rows += [("Best folder", study.trial_logdir(best[0])), ("Its log", log)]
    return [
        *rows,
        ("All trials", settings.command("trials", study.run_id)),
        ("TensorBoard", settings.command("tensorboard", study.run_id)),
        ("All studies", settings.command("studies")),
    ]
