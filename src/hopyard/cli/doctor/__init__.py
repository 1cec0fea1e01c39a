"""`hopyard doctor`: what of this machine is ready for Hopyard."""
