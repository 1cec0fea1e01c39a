"""`DataFeed`: the rows that Spark feeds to a node, in the form that its framework wants."""

from __future__ import annotations

from hopyard.feed.row_feed import RowFeed


class DataFeed(RowFeed):
    """What ``ctx.feed()`` returns."""
