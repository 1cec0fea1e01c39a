"""`hopyard search`: a function and a space from files."""
