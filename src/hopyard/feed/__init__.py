"""Spark partitions into nodes as Arrow batches, and results back."""
