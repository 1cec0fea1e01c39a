"""Logs of nodes: written in segments, read as one text."""
