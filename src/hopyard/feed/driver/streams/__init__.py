"""Streaming DataFrames and DStreams that feed the nodes."""
