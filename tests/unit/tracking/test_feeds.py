from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hopyard.errors import CorruptRecord, RunNotFound
from hopyard.feed.account import EpochAccount
from hopyard.feed.driver import record as feed_record
from hopyard.feed.driver.record import FeedRecord
from hopyard.feed.task.partition_sender import PartitionReport
from hopyard.store import Project
from hopyard.tracking import RunId, RunReader, RunWriter, run_paths
from hopyard.tracking.feeds import feeds_of, read_fed_partitions, read_feeds

pytestmark = pytest.mark.unit
REPORTS = (
    PartitionReport(partition=0, rows=5, sent={0: 2, 1: 3}, waited_seconds=0.25),
    PartitionReport(partition=1, rows=4, sent={1: 3}, found={1: 1}, dropped=2, is_whole=False),
)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project.open(str(tmp_path), "p")


@pytest.fixture
def run(project: Project) -> RunWriter:
    return RunWriter.begin(project, app_id="a", kind="launcher", name="s", nodes=2, backend="inline")


def test_sums_and_partitions_are_read_as_they_were_kept(project: Project, run: RunWriter) -> None:
    record = FeedRecord(project, run)
    accounts = [EpochAccount.of(epoch, REPORTS, 1.5) for epoch in range(2)]
    for account in accounts:
        record(7, account, REPORTS)
    for found in (read_feeds(project, run.id), feeds_of(project, RunReader(project, run.id).record())):
        assert found.corrupt == ()
        for each, account in zip(found, accounts, strict=True):
            kept: Any = account.to_json()
            assert each.feed == 7
            assert {name: getattr(each, name) for name in kept} == {
                **kept,
                "ended_by": account.ended_by,
            }
            assert [each.rows_of_node(rank) for rank in range(3)] == [2, 7, 0]
    partitions = read_fed_partitions(project, run.id, 7, 1)
    names = ("partition", "rows", "dropped", "is_whole", "waited_seconds")
    assert [{name: getattr(each, name) for name in names} for each in partitions] == [
        {name: getattr(report, name) for name in names} for report in REPORTS
    ]
    assert [[each.rows_of_node(rank) for rank in range(3)] for each in partitions] == [[2, 3, 0], [0, 4, 0]]


def test_epochs_that_the_record_of_the_run_has_lost_are_read_from_their_files(
    project: Project, run: RunWriter
) -> None:
    record = FeedRecord(project, run)
    count = feed_record.MOST_EPOCHS + 12
    for epoch in range(count):
        record(0, EpochAccount.of(epoch, REPORTS, 0.5), REPORTS)
    found = read_feeds(project, run.id)
    assert [each.epoch for each in found] == list(range(count))
    assert {each.rows for each in found} == {9}
    assert all(not each.extra for each in found)
    assert len(feeds_of(project, RunReader(project, run.id).record())) == feed_record.MOST_EPOCHS


def test_a_run_that_was_not_fed_has_no_accounts(project: Project, run: RunWriter) -> None:
    assert read_feeds(project, run.id).records == ()
    assert read_fed_partitions(project, run.id, 0, 0).records == ()
    with pytest.raises(RunNotFound):
        read_feeds(project, RunId("a", "launcher", 99))


def test_an_account_of_a_later_version_or_a_damaged_one_hides_no_other(
    project: Project, run: RunWriter
) -> None:
    new = {"feed": 0, "epoch": 1, "rows": 3, "reports": [{"partition": 0, "rows": 3, "colour": "red"}, 7]}
    project.put(run_paths(project, run.id).feed(0, 1), json.dumps({**new, "colour": "red"}).encode())
    project.put(run_paths(project, run.id).feed(0, 2), b'{"feed": 0, "ep')
    project.put(f"{run_paths(project, run.id).feeds}/notes.txt", b"")
    run.annotate(feeds=[{"feed": 0, "epoch": 3, "rows": 4}, {"feed": 0, "epoch": "x", "rows": 4}])
    found = read_feeds(project, run.id)
    assert [(each.epoch, each.rows, each.extra) for each in found] == [(1, 3, {"colour": "red"}), (3, 4, {})]
    assert [Path(error.path).name for error in found.corrupt] == ["0.2.json", "run.json, account 2"]
    partitions = read_fed_partitions(project, run.id, 0, 1)
    assert [(each.partition, each.rows, each.extra) for each in partitions] == [(0, 3, {"colour": "red"})]
    assert len(partitions.corrupt) == 1
    with pytest.raises(CorruptRecord):
        read_fed_partitions(project, run.id, 0, 2)
    run.annotate(feeds="all of them")
    assert len(read_feeds(project, run.id).corrupt) == 2
