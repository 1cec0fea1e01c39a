"""What driver and workers tell each other: plan, cluster map, status, outcome, and the bytes of a call."""
