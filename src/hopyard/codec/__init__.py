"""Values as JSON, for files and for messages."""
