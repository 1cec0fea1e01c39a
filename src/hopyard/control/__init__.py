"""The driver's half of a run: who has arrived, who is alive, when it ends."""
