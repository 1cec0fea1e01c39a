"""What the parameters of a search may be."""
