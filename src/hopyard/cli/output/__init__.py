"""What the command writes: tables, JSON, and what is going on, on terminals and into pipes."""
