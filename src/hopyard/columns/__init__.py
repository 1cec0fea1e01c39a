"""Arrow columns as numpy arrays."""
