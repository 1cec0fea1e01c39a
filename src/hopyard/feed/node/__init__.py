"""The node's half of the feed: its server, what waits there, and the rows that a function reads."""
