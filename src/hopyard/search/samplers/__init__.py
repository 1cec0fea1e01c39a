"""Which parameters are tried next."""
