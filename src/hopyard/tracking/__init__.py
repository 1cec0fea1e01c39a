"""What is remembered of runs: their records, the writers that keep them and the readers that show them."""
