"""Experiments of papers, run again, and their statements, judged."""
