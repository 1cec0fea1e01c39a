"""A feed says what it cannot do before it loads a framework."""

from __future__ import annotations

import sys

import pytest

from hopyard.errors import BadArguments, MissingDependency
from hopyard.feed.node.inbox import Inbox
from hopyard.run.data_feed import DataFeed

pytestmark = pytest.mark.unit

DATASETS = [("as_tf_dataset", "tensorflow"), ("as_torch_dataset", "torch")]


@pytest.fixture
def feed() -> DataFeed:
    return DataFeed(Inbox())


@pytest.mark.parametrize(("method", "framework"), DATASETS)
def test_a_framework_that_is_not_installed_is_named(feed, method, framework, monkeypatch):
    monkeypatch.delitem(sys.modules, f"hopyard.frameworks.{framework}_data", raising=False)
    monkeypatch.setitem(sys.modules, framework, None)
    with pytest.raises(MissingDependency, match=rf"pip install 'hopyard\[{framework}\]'"):
        getattr(feed, method)(32)


@pytest.mark.parametrize(("method", "framework"), DATASETS)
def test_a_batch_has_at_least_one_row(feed, method, framework):
    with pytest.raises(BadArguments, match="batch_size=0 is not valid; give a whole number of at least 1"):
        getattr(feed, method)(0)
