"""Trees that grow a level at a time."""
