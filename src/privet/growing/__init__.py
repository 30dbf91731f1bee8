"""One grower, many policies."""
