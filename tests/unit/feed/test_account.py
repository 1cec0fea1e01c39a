"""The account of an epoch adds up, whatever its tasks went through."""

from __future__ import annotations

import pytest

from hopyard.errors import FeedMiscounted
from hopyard.feed.account import EpochAccount, check
from hopyard.feed.task.functions import parse_report
from hopyard.feed.task.partition_sender import PartitionReport

pytestmark = pytest.mark.unit

REPORTS = [
    PartitionReport(partition=0, rows=100, sent={0: 60, 1: 40}),
    PartitionReport(partition=1, rows=100, sent={1: 30}, found={0: 50, 1: 20}),  # of a task that was repeated
]


def test_rows_that_an_earlier_attempt_brought_are_counted_for_the_nodes_that_have_them() -> None:
    account = EpochAccount.of(0, REPORTS, seconds=1.0)
    assert account.by_node == {0: 110, 1: 90}
    assert account.rows == sum(account.by_node.values()) == 200
    assert account.skipped == 70


def test_what_nodes_have_counted_is_compared_with_all_that_was_brought() -> None:
    check(0, REPORTS, [{0: 60, 1: 50}, {0: 40, 1: 50}])
    with pytest.raises(FeedMiscounted, match="partition 1: 100 sent, 99 received"):
        check(0, REPORTS, [{0: 60, 1: 49}, {0: 40, 1: 50}])


def test_rows_that_two_nodes_have_are_miscounted() -> None:
    report = PartitionReport(partition=0, rows=100, sent={0: 40}, found={0: 40, 1: 40})  # 20 of them the same
    with pytest.raises(FeedMiscounted, match="partition 0: 100 sent, 120 received"):
        check(0, [report], [{0: 80}, {0: 40}])


def test_a_report_comes_back_from_its_task_as_it_was() -> None:
    assert [parse_report(report.to_text()) for report in REPORTS] == REPORTS
