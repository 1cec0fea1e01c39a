"""What a person sees of runs and studies while they go on: a table on a terminal or in a notebook."""
