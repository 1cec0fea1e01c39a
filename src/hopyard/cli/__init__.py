"""The ``hopyard`` command: one module per subcommand, and the only place of the library that prints."""
