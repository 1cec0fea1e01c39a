"""Real servers and contract suites for tests, of Hopyard itself and of programs that use it."""
