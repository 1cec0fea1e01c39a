"""What a node keeps of a feed, to read it again in later epochs."""
