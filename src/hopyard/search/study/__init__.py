"""The trials of a study: which is next, what came of them, and how a study goes on later."""
