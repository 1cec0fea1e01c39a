"""The GPUs of a node: which it gets, leases on them, and its share of their memory."""
