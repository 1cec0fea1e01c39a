"""`hopyard demo`: a real training, small enough for a first look."""
