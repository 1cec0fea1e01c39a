"""What Spark's tasks do for the feed: send the rows of a partition to the nodes."""
