"""Evaluation of recipes: exact cross-validation and metrics (NOT PRIVATE), private scores, private search."""
