"""One trial: on its way to a slot, in its process, and on record."""
