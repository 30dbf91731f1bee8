"""Our own questions: which recipe when, what is claimed, and how privet compares with other libraries."""
