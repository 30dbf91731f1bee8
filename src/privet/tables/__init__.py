"""Read tables, and encode their cells as small integers."""
