"""The driver's half of the feed: data, epoch by epoch, streams, and their accounts."""
