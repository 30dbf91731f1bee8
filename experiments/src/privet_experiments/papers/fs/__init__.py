"""Friedman & Schuster, *Data Mining with Differential Privacy* (KDD 2010)."""
