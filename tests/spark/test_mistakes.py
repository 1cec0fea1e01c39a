"""Mistakes of users on Spark: each is answered within ten seconds, by one short text with the remedy."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas
import pytest

import hopyard
from hopyard import Cluster, NodeContext, Project, launch
from hopyard.errors import (
    BadArguments,
    InvalidSessionSetting,
    NodeFailed,
    NotEnoughSlots,
    NotFed,
    NotPicklable,
    SessionConflict,
    StudyFailed,
)
from hopyard.testing.mistakes import Mistake, check_mistake

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

SECONDS = 10.0


def read_all(ctx: NodeContext) -> None:
    feed = ctx.feed()
    while len(feed.next_batch(10)):
        continue


def leave_early(ctx: NodeContext) -> None:
    ctx.feed().next_batch(5)


def never_feed(ctx: NodeContext) -> None:
    ctx.report(1, loss=1.0)


def pass_epochs(ctx: NodeContext) -> None:
    for _ in ctx.feed().epochs():
        continue


def read_no_batch(ctx: NodeContext) -> None:
    ctx.feed().next_batch(0)


def read_batch_in_words(ctx: NodeContext) -> None:
    ctx.feed().next_batch("32")  # type: ignore[arg-type]


def read_unknown_column(ctx: NodeContext) -> None:
    list(ctx.feed().as_numpy(10, columns=["label"]))


def read_nulls(ctx: NodeContext) -> None:
    list(ctx.feed().as_numpy(10, columns=["gap"]))


def read_too_often(ctx: NodeContext) -> None:
    dataset = ctx.feed().as_numpy(10, columns=["x"])
    for _ in range(2):
        list(dataset)


def answer_unasked(ctx: NodeContext) -> None:
    feed = ctx.feed()
    feed.next_batch(5)
    feed.batch_results([1])


def answer_other_columns(ctx: NodeContext) -> None:
    feed = ctx.feed()
    for batch in feed.as_numpy(10):
        feed.batch_results({"b": 1.0 * batch["x"], "c": 2.0 * batch["x"]})


def answer_halves(ctx: NodeContext) -> None:
    feed = ctx.feed()
    for batch in feed.as_numpy(10):
        feed.batch_results({"c": batch["x"] / 2})


def be_uneven(ctx: NodeContext) -> None:
    ctx.feed(uneven="fill")


def ask_for_test_rows(ctx: NodeContext) -> None:
    ctx.feed("test")  # type: ignore[call-overload]


def nothing(lr: float) -> None: ...


def words(lr: float) -> str:
    return "good"


def diverged(lr: float) -> float:
    return float("nan")


def other_metric(lr: float) -> dict[str, float]:
    return {"acc": lr, "loss": lr}


@pytest.fixture(scope="module")
def df(spark: SparkSession) -> DataFrame:
    return spark.range(20).selectExpr(
        "id as x", "id % 2 = 0 as held_out", "cast(id as string) as word", "if(id = 3, null, id) as gap"
    )


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return Project.open(str(tmp_path_factory.mktemp("mistakes")))


@pytest.fixture(scope="module")
def fed(spark: SparkSession, project: Project) -> Iterator[Cluster]:
    """A cluster that waits for rows, beside the executors: what is refused does not end it."""
    with Cluster(read_all, feed=True, backend="processes", progress=False, project=project) as cluster:
        yield cluster


def row(name: str, error: type[BaseException], do: Callable[..., Any], *says: str) -> Mistake:
    return Mistake(name=name, do=do, error=error, says=says)


FEED = [
    row(
        "a pandas frame",
        BadArguments,
        lambda c, df: c.train(pandas.DataFrame({"x": [1]})),
        "pandas",
        "spark.createDataFrame(",
    ),
    row(
        "a list for a DataFrame",
        BadArguments,
        lambda c, df: c.train([1, 2]),
        "list",
        "spark.createDataFrame(",
    ),
    row("no epochs", BadArguments, lambda c, df: c.train(df, epochs=0), "epochs=0", "at least 1"),
    row("epochs as text", BadArguments, lambda c, df: c.train(df, epochs="3"), "epochs='3'", "at least 1"),
    row("half an epoch", BadArguments, lambda c, df: c.train(df, epochs=1.5), "epochs=1.5", "at least 1"),
    row("text for a seed", BadArguments, lambda c, df: c.train(df, shuffle_seed="x"), "'x'", "whole number"),
    row("no timeouts", BadArguments, lambda c, df: c.train(df, feed_timeout=-1), "feed_timeout=-1", "give"),
    row(
        "too much held out", BadArguments, lambda c, df: c.train(df, validation=1.5), "1.5", "between 0 and 1"
    ),
    row(
        "an unknown column", BadArguments, lambda c, df: c.train(df, validation="held"), "'held'", "held_out"
    ),
    row(
        "a column of words", BadArguments, lambda c, df: c.train(df, validation="word"), "string", "booleans"
    ),
    row(
        "rows to validate with of another type",
        BadArguments,
        lambda c, df: c.train(df, validation=df.withColumn("x", df["x"].cast("string"))),
        "column 'x' is of type bigint in the data and of type string",
        ".cast('bigint')",
    ),
    row(
        "rows to validate with that lack a column",
        BadArguments,
        lambda c, df: c.train(df, validation=df.withColumnRenamed("word", "words")),
        "no column 'word'",
        "did you mean 'words'?",
    ),
    row(
        "a checkpoint for rows",
        BadArguments,
        lambda c, df: c.train(df, checkpoint="x"),
        "checkpoint",
        "stream",
    ),
    row("results without columns", BadArguments, lambda c, df: c.inference(df), "schema", "as in"),
    row("an odd schema", BadArguments, lambda c, df: c.inference(df, "prediction flot"), "flot", "as in"),
    row(
        "inference on a list", BadArguments, lambda c, df: c.inference([1]), "list", "spark.createDataFrame("
    ),
]


@pytest.mark.parametrize("mistake", FEED, ids=str)
def test_what_cannot_be_fed_is_refused_and_the_run_goes_on(
    mistake: Mistake, fed: Cluster, df: DataFrame
) -> None:
    check_mistake(mistake, fed, df, seconds=SECONDS)
    assert not fed.has_ended()


def feed(function: Callable[..., Any], project: Project, data: DataFrame) -> None:
    with Cluster(function, feed=True, backend="processes", progress=False, project=project) as cluster:
        cluster.train(data)


def feed_none(function: Callable[..., Any], project: Project, data: DataFrame) -> None:
    feed(function, project, data.where("x < 0"))


@pytest.fixture(scope="module")
def _warm(project: Project, df: DataFrame) -> None:
    """Starts Spark's Python workers, which the limits do not count."""
    feed(read_all, project, df)


READ = [
    row("rows left", NodeFailed, partial(feed, leave_early), "after 5 rows", "feed.terminate()"),
    row("rows never asked for", NodeFailed, partial(feed, never_feed), "after 0 rows", "feed.epochs()"),
    row(
        "epochs without their rows", NodeFailed, partial(feed, pass_epochs), "after 0 rows", "epoch.as_numpy("
    ),
    row("batches of no rows", NodeFailed, partial(feed, read_no_batch), "0 rows", "at least 1"),
    row("batches in words", NodeFailed, partial(feed, read_batch_in_words), "'32' rows", "at least 1"),
    row("a column too few", NodeFailed, partial(feed, read_unknown_column), "label", "choose from x"),
    row("nulls", NodeFailed, partial(feed, read_nulls), "'gap'", "fill_nulls="),
    row("epochs too many", NodeFailed, partial(feed, read_too_often), "epoch 2", "epochs=2"),
    row(
        "results unasked", NodeFailed, partial(feed, answer_unasked), "got 1 results", "inference(df, schema)"
    ),
    row("an odd word for uneven", NodeFailed, partial(feed, be_uneven), "'fill'", "'drop'"),
    row("an unknown feed", NodeFailed, partial(feed, ask_for_test_rows), "'test'", '"validation"'),
    row("no rows at all", BadArguments, partial(feed_none, read_all), "no rows to train on", "filters"),
]


@pytest.mark.usefixtures("_warm")
@pytest.mark.parametrize("mistake", READ, ids=str)
def test_a_function_that_misreads_its_feed_is_told_how_to_read_it(
    mistake: Mistake, project: Project, df: DataFrame
) -> None:
    check_mistake(mistake, project, df, seconds=SECONDS)


@pytest.mark.usefixtures("_warm")
@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (
            read_all,
            "the function asked for more rows, but 20 rows have no results yet. Call feed.batch_results(",
        ),
        (leave_early, "the function returned, but 5 rows have no results yet. Call feed.batch_results("),
    ],
)
@pytest.mark.timeout(6 * SECONDS)
def test_a_function_without_results_ends_the_job_that_waits_for_them(
    function: Callable[..., Any], reason: str, project: Project, df: DataFrame
) -> None:
    cluster = Cluster(function, feed=True, backend="processes", progress=False, project=project).start()
    began = time.monotonic()
    with pytest.raises(Exception, match=re.escape(reason)):
        cluster.inference(df.coalesce(1), "a double").collect()
    assert time.monotonic() - began < 2 * SECONDS
    with pytest.raises(NodeFailed, match=re.escape(reason)):
        cluster.shutdown()


def test_results_with_other_names_than_the_schema_are_refused(project: Project, df: DataFrame) -> None:
    with Cluster(
        answer_other_columns, feed=True, backend="processes", progress=False, project=project
    ) as cluster:
        reason = r"the results have the columns b, c; the schema has a, b\."
        with pytest.raises(Exception, match=reason):
            cluster.inference(df.select("x").coalesce(1), "a double, b double").collect()
        found = cluster.inference(df.select("x").coalesce(1), "c double, b double").collect()
    assert [(row.b, row.c) for row in found] == [(x, 2 * x) for x in range(20)]


def infer(schema: str, function: Callable[..., Any], project: Project, data: DataFrame) -> None:
    with Cluster(function, feed=True, backend="processes", progress=False, project=project) as cluster:
        cluster.inference(data.select("x"), schema).show()


INFER = [
    row(
        "results of other names",
        BadArguments,
        partial(infer, "a double", answer_other_columns),
        "the columns b, c; the schema has a.",
    ),
    row(
        "results of another type",
        BadArguments,
        partial(infer, "b binary, c double", answer_other_columns),
        "do not fit the schema ['b', 'c']",
    ),
    row(
        "results that are no whole numbers",
        BadArguments,
        partial(infer, "c int", answer_halves),
        "do not fit the schema ['c']",
        "truncated",
    ),
]


@pytest.mark.usefixtures("_warm")
@pytest.mark.parametrize("mistake", INFER, ids=str)
def test_results_that_do_not_fit_end_the_job_at_the_first_task(
    mistake: Mistake, project: Project, df: DataFrame
) -> None:
    check_mistake(mistake, project, df, seconds=SECONDS)


def search(function: Callable[..., Any], project: Project, **options: Any) -> None:
    usual = {"trials": 1, "same_failures": 1, "parallel": 1, "progress": False, "project": project}
    hopyard.search(function, {"lr": [0.1]}, **{**usual, **options})


SEARCH = [
    row("nothing returned", StudyFailed, partial(search, nothing), "returned None", "Return a number"),
    row("words returned", StudyFailed, partial(search, words), "'good'", "Return a number"),
    row("a loss that diverged", StudyFailed, partial(search, diverged), "nan", "diverged"),
    row(
        "a slip in the metric",
        StudyFailed,
        partial(search, other_metric, metric="ac"),
        "no ac",
        "'acc', 'loss'",
    ),
]


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("mistake", SEARCH, ids=str)
def test_a_result_that_cannot_be_compared_is_told(mistake: Mistake, project: Project) -> None:
    check_mistake(mistake, project, seconds=SECONDS)


LAUNCH = [
    row(
        "more nodes than slots", NotEnoughSlots, lambda spark: launch(rank, nodes=9), "needs 9", "fewer nodes"
    ),
    row(
        "Spark in the function",
        NotPicklable,
        lambda spark: launch(lambda: spark.range(3)),
        "spark",
        "inside the",
    ),
    row(
        "rows in the function",
        NotPicklable,
        lambda spark: launch(partial(count, spark.range(3))),
        "DataFrame",
    ),
    row(
        "another session",
        SessionConflict,
        lambda spark: hopyard.local_spark(executors=3),
        "already",
        ".stop()",
    ),
    row(
        "no room for memory",
        InvalidSessionSetting,
        lambda spark: hopyard.local_spark(memory="1"),
        "'1'",
        "512m",
    ),
]


def rank(ctx: NodeContext) -> int:
    return ctx.rank


def count(rows: DataFrame) -> int:
    return rows.count()


@pytest.mark.parametrize("mistake", LAUNCH, ids=str)
def test_what_cannot_run_on_this_spark_is_refused(mistake: Mistake, spark: SparkSession) -> None:
    check_mistake(mistake, spark, seconds=SECONDS)


def test_a_run_that_has_ended_cannot_be_fed(project: Project, df: DataFrame) -> None:
    cluster = Cluster(read_all, feed=True, backend="processes", progress=False, project=project).start()
    cluster.train(df)
    cluster.wait()
    check_mistake(
        row("too late", NotFed, lambda: cluster.train(df), "train()", "another cluster"), seconds=SECONDS
    )
