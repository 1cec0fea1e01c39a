"""HDFS, over its own protocol and over HTTP."""
