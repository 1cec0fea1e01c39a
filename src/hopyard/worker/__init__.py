"""The executor's half of a run: the supervised process of each node, and what is kept of it."""
