"""Nodes that leave their Spark task, so that others can have the slot."""
