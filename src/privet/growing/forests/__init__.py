"""Forests of public random trees, and what is bought in their leaves."""
