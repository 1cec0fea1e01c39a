"""How nodes come to run: the plan, the backends, and the supervised process of each node."""
