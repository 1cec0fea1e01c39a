"""`hopyard demo`: a real training in a real Spark executor, from nothing to TensorBoard."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

import typer

from hopyard.cli.output import console
from hopyard.cli.output.wording import duration
from hopyard.cli.settings import Settings
from hopyard.errors import MissingDependency

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from hopyard.run.result import RunResult
    from hopyard.store import Project
    from hopyard.tracking import RunId

SEED = 7
# the executor's JVM only hosts the training process: what counts is how soon it is there
QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
NEEDED = {"keras": "keras", "tensorflow": "tensorflow", "sklearn": "scikit-learn"}


class Where(Enum):
    """What the demo trains on."""

    SPARK = "spark"
    PROCESSES = "processes"


def demo(
    context: typer.Context,
    *,
    epochs: Annotated[
        int, typer.Option(min=1, metavar="N", help="How many times the model sees all digits.")
    ] = 12,
    backend: Annotated[
        Where, typer.Option(help="Train in a Spark executor, or in a plain process without Spark.")
    ] = Where.SPARK,
) -> None:
    """Train a small Keras model on a local Spark, as a first try."""
    require_packages(backend)
    settings = Settings.of(context)
    project = settings.open_project()
    project.mkdir(project.layout.logs)  # a project that cannot be written to is told before Spark starts
    with spark_session(backend) as spark:
        result = train(project, spark, backend, epochs)
    show(result, settings)


def require_packages(backend: Where) -> None:
    """Checks that all packages are there, without importing them.

    Raises:
        MissingDependency: One is not.
    """
    needed = {**NEEDED, "pyspark": "pyspark"} if backend is Where.SPARK else NEEDED
    for module, package in needed.items():
        if find_spec(module) is None:
            raise MissingDependency(package, "hopyard demo", "demo")


@contextmanager
def spark_session(backend: Where) -> Iterator[SparkSession | None]:
    """Gives a Spark with one executor process, or None where none is wanted."""
    if backend is not Where.SPARK:
        yield None
        return
    from hopyard.spark.session import local_spark

    began = time.monotonic()
    with console.busy("Starting Spark"):
        spark = local_spark(executors=1, conf={"spark.executor.extraJavaOptions": QUICK_START})
    try:
        console.line(f"Spark {spark.version} runs with one executor ({duration(time.monotonic() - began)})")
        yield spark
    finally:
        with console.busy("Stopping Spark"):
            spark.stop()


def train(project: Project, spark: SparkSession | None, backend: Where, epochs: int) -> RunResult:
    """Trains, and shows how far it is meanwhile."""
    from hopyard.cli.demo.digits import train_digits
    from hopyard.cli.output.progress import Watch, training_display
    from hopyard.run.launch import launch
    from hopyard.tracking import RunReader

    run = RunReader(project, expected_run(spark))
    with training_display(epochs) as display, Watch(run.metrics, display):
        return launch(
            train_digits,
            {"epochs": epochs, "seed": SEED},
            name="demo",
            spark=spark,
            backend=backend.value,
            project=project,
            progress=False,  # the epochs are shown instead of the nodes
        )


def expected_run(spark: SparkSession | None) -> RunId:
    """Returns the id that the first launch of this program will have."""
    from hopyard.run.backend_choice import process_application_id
    from hopyard.tracking import RunId

    app_id = process_application_id() if spark is None else spark.sparkContext.applicationId
    return RunId(app_id, "launcher", 1)


def show(result: RunResult, settings: Settings) -> None:
    """Prints what came of the training and how to look at it."""
    console.line(f"Accuracy on unseen digits: {result.value:.3f}", style="bold green")
    console.line()
    rows = [
        ("Run folder", result.logdir),
        ("Its log", settings.command("logs", result.run_id)),
        ("TensorBoard", settings.command("tensorboard", result.run_id)),
        ("All runs", settings.command("runs")),
    ]
    for text in console.aligned(rows):
        console.line(text)
