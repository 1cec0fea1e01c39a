"""Rows from a Spark task to a node on the same host, without a socket."""
