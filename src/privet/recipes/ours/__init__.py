"""privet's own recipes."""
