"""Trees drawn whole, or in blocks of levels."""
