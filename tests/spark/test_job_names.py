"""What Spark's pages call the jobs that belong to runs and studies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import hopyard

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def read_all(ctx: hopyard.NodeContext) -> None:
    feed = ctx.feed()
    while len(feed.next_batch(8)):
        continue


def judge(x: int) -> float:
    return float(x)


def jobs(spark: SparkSession) -> dict[int, str]:
    """Returns the descriptions of all jobs so far, by number."""
    listed: Any = spark.sparkContext._jsc.sc().statusStore().jobsList(None)
    found = [listed.apply(place) for place in range(listed.size())]
    return {
        job.jobId(): job.description().get() if job.description().isDefined() else job.name() for job in found
    }


def test_each_job_says_which_run_or_study_it_belongs_to_and_what_it_does(spark: SparkSession) -> None:
    before = jobs(spark)
    with hopyard.Cluster(read_all, nodes=2, feed=True) as cluster:
        cluster.train(spark.range(20), epochs=2, validation=spark.range(4))
    hopyard.grid_search(judge, {"x": [1, 2]}, name="vintage")
    run = cluster.run_id.rpartition("/")[2]
    own = [words for number, words in sorted(jobs(spark).items()) if number not in before]
    assert own == [
        f"hopyard: {run} (launcher), nodes 0 and 1",
        f"hopyard: {run} (launcher), validation data for node 0",
        f"hopyard: {run} (launcher), validation data for node 1",
        f"hopyard: {run} (launcher), feed epoch 1 of 2",
        "hopyard: study vintage, 2 at once",
    ]
