"""Nodes that train in step: each takes a batch when all can take one."""
